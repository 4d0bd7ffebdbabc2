"""Loss, gradient norm and learning rate. A GRPO loss near 0 is no failure: it says little by itself."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="optim",
    title=Text(en="Loss, gradient, learning rate", ko="손실, 그래디언트, 학습률"),
    help=Text(
        en="In GRPO the loss starts near 0 and is no measure of quality; the gradient norm says whether there is "
        "anything to learn from.",
        ko="GRPO에서 손실은 0 근처에서 시작하며 품질의 척도가 아닙니다. "
        "배울 것이 있는지는 그래디언트 노름이 알려 줍니다.",
    ),
    order=60,
    rows=(
        Row(Text(en="loss", ko="손실")),
        Row(Text(en="grad norm", ko="그래디언트 노름"), zero=True),
        Row(Text(en="learning rate", ko="학습률"), format=".1~e", zero=True),
    ),
    series=(
        Series("loss", Text(en="loss", ko="손실"), "ink"),
        Series("grad_norm", Text(en="grad norm", ko="그래디언트 노름"), "orange", row=1),
        Series("learning_rate", Text(en="learning rate", ko="학습률"), "grey", row=2, smooth=False),
    ),
)

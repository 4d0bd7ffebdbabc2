"""Memory of the process and of the device."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="memory",
    title=Text(en="Memory", ko="메모리"),
    help=Text(
        en="Process: resident memory of the trainer. Device: allocated by tensors, reserved by the allocator, and the "
        "highest so far. Below: how much of its memory is taken, by anybody, and how much of the time it was busy.",
        ko="프로세스는 학습 프로세스의 상주 메모리입니다. 장치는 텐서가 쓰는 양, 할당자가 잡아 둔 양, 최고치이며, "
        "아래는 장치 메모리 사용률(다른 프로세스 포함)과 장치가 일한 시간의 비율입니다.",
    ),
    order=80,
    rows=(
        Row(Text(en="GB", ko="GB"), zero=True),
        Row(Text(en="device (%)", ko="장치 (%)"), range=(0.0, 100.0)),
    ),
    series=(
        Series("memory/process_gb", Text(en="process", ko="프로세스"), "ink", smooth=False),
        Series("memory/device_allocated_gb", Text(en="device, allocated", ko="장치 할당"), "blue", smooth=False),
        Series("memory/device_reserved_gb", Text(en="device, reserved", ko="장치 예약"), "sky", smooth=False),
        Series(
            "memory/device_peak_gb", Text(en="device, peak", ko="장치 최고치"), "vermillion", dash="dot", smooth=False
        ),
        Series("memory/device_used_pct", Text(en="memory taken", ko="메모리 사용률"), "orange", row=1, smooth=False),
        Series("device/use_pct", Text(en="busy", ko="가동률"), "green", row=1),
    ),
)

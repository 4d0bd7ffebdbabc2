"""The shell: one Gradio Blocks with a column a page, the static files, and what `launch` needs for them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import gradio as gr
import gradio.themes
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ui.tabs import find_tabs

STATIC = Path(__file__).resolve().parent / "static"
FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans KR", "Noto Sans CJK KR", "Apple SD Gothic Neo"]
MONO = ["ui-monospace", "SF Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace"]


def build() -> gr.Blocks:
    """The page's skeleton. Analytics off here as well as by environment, so that no import order can turn it on."""
    with gr.Blocks(title="GRPO Studio", analytics_enabled=False, fill_width=True) as demo:
        header = '<div id="studio-header"></div>'
        gr.HTML(header, elem_id="header-html", apply_default_css=False, padding=False, js_on_load=None)
        for tab in find_tabs():
            with gr.Column(elem_id=f"page-{tab.id}", elem_classes="page"):
                tab.build(tab)
    return demo


def theme() -> gradio.themes.Base:
    """Fonts of the system only: a web font would be an external request."""
    return gradio.themes.Base(font=FONTS, font_mono=MONO)


def head() -> str:
    """Style sheets and the one script, with base.css first so that a page's own sheet wins."""
    sheets = sorted((STATIC / "css").glob("*.css"), key=lambda path: (path.stem != "base", path.stem))
    links = [f'<link rel="stylesheet" href="/static/css/{path.name}">' for path in sheets]
    early = (
        "<script>(()=>{const q=new URLSearchParams(location.search),g=k=>{try{return localStorage.getItem(k)}catch{}},"
        "t=q.get('theme')||g('studio.theme')||(matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light');"
        "document.documentElement.dataset.theme=t==='dark'?'dark':'light'})()</script>"
    )
    return "\n".join([early, *links, '<script type="module" src="/static/js/app.js"></script>'])


class Files(StaticFiles):
    """Our static files before Gradio's own (both live under /static); asked again each time, so an update shows."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)
        gradio = importlib.util.find_spec("gradio")
        assert gradio is not None
        assert gradio.origin is not None
        self.all_directories = [STATIC, Path(gradio.origin).parent / "templates" / "frontend" / "static"]

    def file_response(self, *args, **kwargs) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def plotly_version() -> str:
    return importlib.metadata.version("plotly")


def plotly_script(request) -> Response:
    """plotly.min.js as the installed plotly package ships it; its address carries the version, so it may be kept."""
    from starlette.responses import FileResponse

    spec = importlib.util.find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return FileResponse(path, media_type="text/javascript", headers=headers)


def static_routes() -> list[BaseRoute]:
    return [Route("/static/vendor/plotly.min.js", plotly_script), Mount("/static", Files(), name="static")]

"""A grid as a page: static HTML beside the images, without scripts."""

from html import escape
from urllib.parse import quote

from mezzotint.batch.sheet.cells import Axis, Grid

_STYLE = (
    "body{font:14px system-ui,sans-serif;margin:16px;background:#fff;color:#202020}"
    "th{font-weight:600;text-align:left;vertical-align:top;padding:4px;max-width:320px;overflow-wrap:anywhere}"
    "td{padding:2px}img{display:block;max-width:320px;max-height:320px}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#e8e8e8}}"
)


def page_of(grid: Grid) -> str:
    """The page; images link to their files, by names relative to the page."""
    title = escape(grid.title or "Grid")
    tables = "".join(_table(grid, z, label) for z, label in enumerate(grid.axes[2].labels))
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; object-src 'none'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>{tables}</body></html>\n"
    )


def _table(grid: Grid, z: int, label: str) -> str:
    x, y, _ = grid.axes
    heading = f"<h2>{_label(grid.axes[2], label)}</h2>" if grid.axes[2].name else ""
    head = "".join(f"<th>{_label(x, one)}</th>" for one in x.labels)
    rows = (
        f"<tr><th>{_label(y, one)}</th>{''.join(_cell(grid, (column, row, z)) for column in range(len(x.labels)))}</tr>"
        for row, one in enumerate(y.labels)
    )
    return f"{heading}<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _label(axis: Axis, label: str) -> str:
    return escape(f"{axis.name} {label}") if axis.name else ""


def _cell(grid: Grid, place: tuple[int, int, int]) -> str:
    name = grid.files.get(place)
    if name is None:
        return "<td></td>"
    link = escape(quote(f"./{name}", errors="surrogateescape"))
    return f'<td><a href="{link}"><img loading="lazy" src="{link}" alt="{escape(name)}"></a></td>'

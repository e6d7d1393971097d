# SPDX-License-Identifier: GPL-2.0
"""Bar charts for bench/run_bench: in each row one bar for each transport, with TCP at 100 %."""
from xml.sax.saxutils import escape

COLOURS = {"tcp": "#7f8fa6", "unix": "#c9a24b", "pipe": "#8f7fb5", "smc": "#2a9d6f",
           "smc-fallback": "#5aa7c7"}
NAMES = {"tcp": "TCP", "unix": "AF_UNIX", "pipe": "pipe", "smc": "SMC",
         "smc-fallback": "SMC, fallback"}
LEFT, RIGHT, BAR, GAP, TOP = 220, 900, 15, 16, 84

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #333 }
  .head { font-size: 17px; font-weight: 600 } .note { font-size: 12px; fill: #666 }
  .grid { stroke: #888; stroke-opacity: .25 } .target { stroke: #c0392b; stroke-width: 2 }
  .page { fill: #fff }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .note { fill: #aaa } .page { fill: #1c1e21 } }
"""


def legend():
    out, x = [], LEFT
    for transport, name in NAMES.items():
        out.append(f'<rect x="{x}" y="50" width="12" height="12" '
                   f'fill="{COLOURS[transport]}"/><text x="{x + 18}" y="61">{name}</text>')
        x += 40 + 8 * len(name)
    out.append(f'<line class="target" x1="{x}" x2="{x}" y1="49" y2="64"/>'
               f'<text x="{x + 8}" y="61">target for SMC</text>')
    return out


def bar(transport, y, width, label, room):
    """Returns a bar with its label behind it, or inside if there is no room behind."""
    inside = width > RIGHT - LEFT - room
    x, anchor = (LEFT + width - 6, "end") if inside else (LEFT + width + 6, "start")
    return (f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" '
            f'fill="{COLOURS[transport]}"/>'
            f'<text class="note" x="{x:.1f}" y="{y + 11}" text-anchor="{anchor}">{label}</text>')


def target_line(row, scale, top, bottom):
    x = LEFT + row["target"] / scale * (RIGHT - LEFT)
    return (f'<line class="target" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 3}" '
            f'y2="{bottom + 1}"/>')


def group(row, y, scale):
    """Returns the bars of one row of the table, from y down, and the y below them."""
    out, tcp = [], row["ns"]["tcp"]
    out.append(f'<text x="{LEFT - 12}" y="{y + 12}" text-anchor="end">'
               f'{escape(row["label"])}</text>')
    top = y
    for transport, ns in row["ns"].items():
        ratio = ns / tcp
        width = max(1, min(ratio, scale) / scale * (RIGHT - LEFT))
        label = f"{ns:,.0f}".replace(",", "\u2009") + ("" if transport == "tcp"
                                                      else f"  ({ratio:.2f})")
        out.append(bar(transport, y, width, label, 110))
        y += BAR
    if row.get("target"):
        out.append(target_line(row, scale, top, y))
    return out, y + GAP


def program(row, y, scale):
    """Returns the two bars of a program, TCP and SMC; their lengths are the ratios to TCP."""
    out, top = [], y
    out.append(f'<text x="{LEFT - 12}" y="{y + 19}" text-anchor="end">'
               f'{escape(row["label"])}</text>')
    for transport in ("tcp", "smc"):
        ratio = row["value"][transport] / row["value"]["tcp"]
        width = max(1, ratio / scale * (RIGHT - LEFT))
        label = f"{row['value'][transport]:,.0f} {row['unit']}".replace(",", "\u2009")
        label += f"  ({ratio:.2f})" if transport == "smc" else ""
        out.append(bar(transport, y, width, label, 130))
        y += BAR
    out.append(target_line(row, scale, top, y))
    return out, y + GAP


def programs(rows, y):
    """Returns the second chart, below the first: real programs by the wall clock."""
    rows = [row for row in rows if row["ratio"] is not None]
    if not rows:
        return [], y
    scale = max(max(row["ratio"], row["target"], 1) for row in rows) * 1.05
    out = [f'<text class="head" x="20" y="{y + 10}">Programs on two CPUs, wall clock</text>']
    y += 34
    for row in rows:
        bars, y = program(row, y, scale)
        out += bars
    out.append(f'<text class="note" x="{LEFT}" y="{y + 8}">loopback, as a ratio to TCP in the same '
               f'boot; longer is better, but for latency</text>')
    return out, y + 24


def draw(rows, title, real=()):
    rows = [row for row in rows if "tcp" in row["ns"]]
    ratios = [ns / row["ns"]["tcp"] for row in rows for ns in row["ns"].values()]
    scale = min(max(ratios + [1.1]) * 1.05, 3)
    body, y = [], TOP
    for row in rows:
        out, y = group(row, y, scale)
        body += out
    grid = []
    for tenth in range(0, int(scale * 10) + 1, 5):
        x = LEFT + tenth / 10 / scale * (RIGHT - LEFT)
        grid.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}"/>'
                    f'<text class="note" x="{x:.1f}" y="{y + 14}" text-anchor="middle">'
                    f'{tenth / 10:g}</text>')
    below, height = programs(real, y + 70) if real else ([], y + 40)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + 60} {height}">',
        f"<style>{STYLE}</style>", f'<rect class="page" width="100%" height="100%"/>',
        f'<text class="head" x="20" y="30">{escape(title)}</text>', *legend(), *grid, *body,
        f'<text class="note" x="{LEFT}" y="{y + 32}">instructions per operation; the axis is '
        f'the ratio to TCP in the same boot, shorter is better</text>', *below, "</svg>", ""])

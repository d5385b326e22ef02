"""A characterisation as one page of HTML: tables and pictures, which need nothing from elsewhere.

Pictures are SVG inside the page. Their ink becomes that of the page, so that they are read on light
and on dark; in print the page is light. There is no script.
"""

from __future__ import annotations

import re
from html import escape

from broadfront.characterize.findings import Findings
from broadfront.characterize.plots import PICTURES, pictures
from broadfront.characterize.tables import STOPPED, Table, tables
from broadfront.scaling.look import FAINT, INK
from broadfront.sizes import size_text

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #222; --dim: #666; --faint: #ddd;
  --band: #f6f7f9; --accent: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e6e6e6; --dim: #a0a4aa;
  --faint: #3a3e45; --band: #1e2126; --accent: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans",
  sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; padding-top: .8rem;
  border-top: 1px solid var(--faint); }
h3 { font-size: 1rem; margin: 1.6rem 0 .2rem; }
p { margin: .2rem 0 .7rem; max-width: 46rem; }
.dim, figcaption { color: var(--dim); font-size: .875rem; }
nav ul { columns: 2; padding-left: 1.1rem; font-size: .9rem; } a { color: var(--accent); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid var(--faint); font-weight: 600; vertical-align: bottom; }
th.name, td.name { text-align: left; }
tbody tr:nth-child(even) { background: var(--band); }
figure { margin: 1rem 0 0; } figure svg { max-width: 100%; height: auto; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif; }
@media print { :root { --paper: #fff; --ink: #000; --dim: #444; --faint: #ccc; --band: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; } nav { display: none; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; } .scroll { overflow: visible; }
  table { font-size: 7.5pt; } th, td { padding: .15rem .35rem; } }
"""
SECTIONS = (
    ("What was measured", ("Graphs", "Time of a call"), ("runtime",)),
    ("Frontier size and iterations", (), ("frontier_tree", "frontier_graphs", "by_iteration")),
    ("Degree and skew", ("MTEPS by average", "Time by skew"), ("degree", "skew")),
    ("Synchronisation", ("Supersteps", "Correlation", "Atomic"), ("phases",)),
    ("Memory", ("Bytes", "Peak memory"), ("bandwidth", "memory")),
    ("Five searches beside them", ("The searches",), ("searches",)),
)
"""Titles, how the titles of their tables begin, and their pictures."""


def page(findings: Findings) -> str:
    """Return the whole page."""
    made, drawn = tables(findings), pictures(findings)
    parts = []
    for title, starts, names in SECTIONS:
        mine = [_table(table) for table in made if table.title.startswith(starts)] if starts else []
        mine += [_figure(name, drawn[name].svg()) for name in names if name in drawn]
        if mine:
            parts.append(f'<h2 id="{_anchor(title)}">{escape(title)}</h2>\n' + "\n".join(mine))
    titles = [title for title, _, _ in SECTIONS if any(f'id="{_anchor(title)}"' in part
                                                       for part in parts)]  # fmt: skip
    links = "".join(f'<li><a href="#{_anchor(title)}">{escape(title)}</a></li>' for title in titles)
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Broadfront: three models characterised</title>\n<style>{STYLE}</style>\n"
        f"</head>\n<body>\n<h1>Three models, one machine</h1>\n{_about(findings)}\n"
        f"<nav><ul>{links}</ul></nav>\n{body}\n</body>\n</html>\n"
    )


def _about(findings: Findings) -> str:
    told, settings = findings.machine, findings.settings
    memory = told.get("memory_bytes")
    where = [str(told.get("processor", "")), f"{told.get('cores', '?')} cores",
             size_text(memory) if memory else "", f"Python {told.get('python', '?')}"]  # fmt: skip
    threads, repeats = settings.get("threads", "?"), settings.get("repeats", "?")
    notes = [*findings.notes, *([STOPPED] if findings.stopped else [])]
    told_too = "".join(f" <strong>{escape(note)}.</strong>" for note in notes)
    return (
        "<p>Graph primitives written for operators (data-centric), as vertex programs "
        "(gather-apply-scatter, lowered in two styles) and as products over semirings, and the "
        f"five searches of Graph500: what each costs on this machine.{told_too}</p>\n"
        f'<p class="dim">{escape(", ".join(part for part in where if part))}. {threads} threads, '
        f"median of {repeats}. Answers were verified before anything was timed. Tables and figures "
        "are those of Wu and others, IISWC 2015, where they have numbers.</p>"
    )


def _table(table: Table) -> str:
    def cells(kind: str, texts: list[str]) -> str:
        return "".join(
            f"<{kind}{' class=name' if place < table.names else ''}>{escape(text)}</{kind}>"
            for place, text in enumerate(texts)
        )

    rows = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    return (
        f'<h3>{escape(table.title)}</h3>\n<p class="dim">{escape(table.note)}</p>\n'
        f'<div class="scroll"><table><thead><tr>{cells("th", table.head)}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _figure(name: str, svg: str) -> str:
    told = (PICTURES[name].__doc__ or "").strip()
    return f"<figure>\n{_in_page(svg)}\n<figcaption>{escape(told)}</figcaption>\n</figure>"


def _in_page(svg: str) -> str:
    """Return a picture as a part of a page: no prologue, and the ink of the page."""
    inside = svg[svg.index("<svg") :]
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.DOTALL)
    for colour, name in ((INK, "var(--ink)"), ("#000000", "var(--ink)"), (FAINT, "var(--faint)")):
        inside = re.sub(rf"((?:fill|stroke): ){colour}", rf"\1{name}", inside, flags=re.IGNORECASE)
    return inside


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")

// The style of a chart page: light or dark as the reader's system has it, light on paper.
#include "core/answers/chart_page_parts.h"

namespace heddle {

const char* const kChartPageStyle = R"css(
:root { color-scheme: light dark; --back: #ffffff; --row: #f4f6f9; --row2: #eceff4; --grid: #d5dae2; --text: #16191f; --dim: #4d5563;
  --ii: #0b63ce; --bad: #b3261e; --warn: #8a5a00; --good: #1b6e3c; --outline: #000000; --tip: #ffffff; --mark: #dbe8fb }
@media screen and (prefers-color-scheme: dark) { :root:not(.printing) { --back: #101318; --row: #161a21; --row2: #1b2029; --grid: #2b313c;
  --text: #e6e9ef; --dim: #9aa2b1; --ii: #6eb0ff; --bad: #ff6b5e; --warn: #e8b339; --good: #5fd08b; --outline: #ffffff; --tip: #0a0c10;
  --mark: #1f3450 } }
* { box-sizing: border-box }
body { font: 14px/1.45 'DejaVu Sans', Verdana, sans-serif; color: var(--text); background: var(--back); margin: 20px auto; max-width: 1600px;
  padding: 0 20px }
h1 { font-size: 20px; margin: 0 0 2px } h2 { font-size: 15px; margin: 26px 0 6px } p { margin: 3px 0 }
.dim { color: var(--dim) } .bad { color: var(--bad) } .good { color: var(--good) } .warn { color: var(--warn) }
.ii { font-size: 17px; margin-top: 10px } .ii b { margin-right: 10px } .ii .dim { font-size: 14px }
.pill { display: inline-block; border: 1px solid; border-radius: 10px; padding: 0 9px; font-size: 12px; font-weight: bold; margin-right: 10px }
.bar { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 16px 0 6px }
button { font: inherit; font-size: 13px; color: var(--text); background: var(--row2); border: 1px solid var(--grid); border-radius: 4px;
  padding: 3px 11px; cursor: pointer }
button[aria-pressed=true] { border-color: var(--ii); color: var(--ii); font-weight: bold }
canvas { display: block; width: 100%; touch-action: pan-y; cursor: grab; outline-offset: 2px }
canvas.panning { cursor: grabbing }
#tip { position: fixed; display: none; pointer-events: none; background: var(--tip); border: 1px solid var(--grid); border-radius: 5px;
  padding: 8px 11px; font-size: 12px; line-height: 1.4; max-width: 480px; box-shadow: 0 3px 12px #0006; z-index: 2 }
#tip b { font-size: 13px }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px } th, td { padding: 3px 9px; border-bottom: 1px solid var(--grid); text-align: left;
  white-space: nowrap }
th { font-size: 12px; color: var(--dim) } #ops th { cursor: pointer } #ops th[data-way=up]::after { content: ' \2191' }
#ops th[data-way=down]::after { content: ' \2193' } .n { text-align: right; font-variant-numeric: tabular-nums }
#ops tr.chosen td { background: var(--mark) } #ops tbody tr { cursor: pointer }
td i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px }
noscript svg { max-width: 100%; height: auto }
@media print { body { margin: 0; padding: 0; max-width: none } .bar, #tip { display: none !important } canvas { height: auto !important }
  h2, table { break-inside: avoid } .wide { overflow: visible } td, th { padding: 2px 5px; font-size: 11px; white-space: normal } }
)css";

}  // namespace heddle

#include "build/html.h"

#include <fmt/format.h>

#include "build/text.h"

namespace tenon::build {

namespace {

constexpr const char* kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>)html";

constexpr const char* kStyle = R"html(</title>
<style>
  :root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #2a8f4e; --bad: #c8402f; --mark: #e8a33d; }
  body { margin: 2em auto; max-width: 90em; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.4em; overflow-wrap: anywhere; } h2 { font-size: 1.1em; margin-top: 2em; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1.2em; } dt { opacity: .7; } dd { margin: 0; }
  .wide { overflow-x: auto; } a { color: inherit; }
  table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
  td, th { padding: .35em .7em; border-bottom: 1px solid var(--line); vertical-align: top; }
  td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  td.what { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere; min-width: 12em; }
  tr.failed td:nth-child(2) { color: var(--bad); font-weight: 600; } tr.good td:nth-child(2) { color: var(--good); }
  tr:target { background: #e8a33d44; } g:target rect { stroke: var(--mark); stroke-width: 3; }
  pre { background: var(--soft); padding: .8em; overflow: auto; } .bar { background: var(--soft); height: .6em; }
  .bar div { background: var(--good); height: 100%; }
  .graph { overflow: auto; max-height: 85vh; border: 1px solid var(--line); } .graph svg { display: block; margin: 0 auto; }
  svg text { font: 11.5px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }
  svg text.op { font-weight: 600; font-size: 13px; }
  svg path { fill: none; stroke: #888; } svg rect { fill: var(--soft); stroke: #888; }
)html";

}  // namespace

std::string html_head(const std::string& title, const std::string& style) {
  return kHead + escaped(title) + kStyle + style + "</style></head><body>\n";
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string cell(const std::string& text, const char* kind) {
  return *kind ? fmt::format("<td class=\"{}\">{}</td>", kind, escaped(text)) : "<td>" + escaped(text) + "</td>";
}

std::string html_table(const std::string& head, const std::string& rows) {
  return "<div class=\"wide\"><table><tr>" + head + "</tr>\n" + rows + "</table></div>\n";
}

}  // namespace tenon::build

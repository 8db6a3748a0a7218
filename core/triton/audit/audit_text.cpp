// The audit in words: one line, a screen of text, Markdown for a pull request, JSON.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/report_rows.h"
#include "core/triton/audit/audit.h"
#include "core/triton/audit/audit_parts.h"

namespace heddle::triton {
namespace {

constexpr int kTopicWidth = 15;

std::vector<ReportRow> rows_of(const std::vector<Finding>& findings) {
  std::vector<ReportRow> rows;
  for (const Finding& finding : findings) rows.push_back({finding.weight, finding.topic, finding.sentence, finding.details});
  return rows;
}

const std::vector<TextColumn>& load_columns() {
  static const std::vector<TextColumn> columns{{"load"},          {"tile"},        {"source"},    {"stage", true},
                                               {"read in", true}, {"slots", true}, {"KiB", true}, {"remark"}};
  return columns;
}

std::vector<std::string> load_cells(const LoadRow& row) {
  const auto stage = [](std::int64_t value) { return value >= 0 ? std::to_string(value) : "-"; };
  return {row.name,
          row.tile,
          row.source,
          stage(row.stage),
          stage(row.use_stage),
          row.slots > 0 ? std::to_string(row.slots) : "-",
          fmt::format("{:.4g}", static_cast<double>(row.bytes) / 1024),
          row.remark.substr(0, row.remark.find(':'))};
}

std::string loop_title(const TextLoopAudit& audit) {
  const LoopSite& loop = *audit.loop;
  std::string title =
      fmt::format("loop #{} at line {}{}: {}, {} of tiles", loop.number, loop.line, loop.partition.empty() ? "" : " in " + loop.partition,
                  count_of(static_cast<std::int64_t>(loop.ops), "op"), loop.tile_ops);
  if (audit.fused > 0)
    title += fmt::format(" ({} after fusing) with {}", audit.fused, count_of(static_cast<std::int64_t>(audit.edges), "edge"));
  return title + ", " + count_of(static_cast<std::int64_t>(loop.products), "mma");
}

Json finding_json(const Finding& finding) {
  Json details = Json::array();
  for (const std::string& detail : finding.details) details.push(detail);
  return Json::object()
      .set("topic", finding.topic)
      .set("weight", to_string(finding.weight))
      .set("sentence", finding.sentence)
      .set("details", std::move(details));
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push(finding_json(finding));
  return list;
}

Json loads_json(const std::vector<LoadRow>& rows) {
  Json list = Json::array();
  for (const LoadRow& row : rows) {
    Json item = Json::object();
    item.set("name", row.name).set("tile", row.tile).set("source", row.source);
    item.set("stage", row.stage >= 0 ? Json(row.stage) : Json()).set("use_stage", row.use_stage >= 0 ? Json(row.use_stage) : Json());
    list.push(std::move(item.set("slots", row.slots).set("bytes", row.bytes).set("remark", row.remark)));
  }
  return list;
}

/// What Triton's own compiler says after its last pass: bytes, columns, warps, and what they are made of.
Json memory_json(const TritonMemory& memory) {
  Json buffers = Json::array();
  for (const TritonBuffer& buffer : memory.buffers) {
    Json item = Json::object().set("what", to_string(buffer.what)).set("name", buffer.name).set("why", buffer.why);
    item.set("bytes", buffer.bytes).set("columns", buffer.columns).set("slots", buffer.slots);
    buffers.push(std::move(item.set("synchronous", buffer.synchronous)));
  }
  Json json = Json::object().set("shared_bytes", memory.shared_bytes).set("tmem_columns", memory.tmem_columns);
  json.set("tmem_columns_needed", memory.tmem_needed).set("warps", memory.warps).set("exact", memory.unsure.empty());
  return std::move(json.set("unsure", memory.unsure).set("buffers", std::move(buffers)));
}

}  // namespace

std::string audit_headline(const TextAudit& audit) {
  std::vector<std::string> wrong;
  std::size_t waste = 0;
  const auto count = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      waste += finding.weight == RowMark::Waste;
      if (finding.weight == RowMark::Wrong && std::find(wrong.begin(), wrong.end(), finding.topic) == wrong.end())
        wrong.push_back(finding.topic);
    }
  };
  count(audit.findings);
  for (const TextLoopAudit& loop : audit.loops) count(loop.findings);
  std::string text = printable(audit.title) + ": ";
  if (!audit.findings.empty() && audit.findings.front().topic == "loop") return text + printable(audit.findings.front().sentence);
  text += wrong.empty() ? "nothing is wrong" : fmt::format("wrong: {}", fmt::join(wrong, ", "));
  if (waste > 0)
    text += fmt::format(", {} {} something", waste == 1 ? "one thing" : fmt::format("{} things", waste), waste == 1 ? "costs" : "cost");
  return text;
}

std::string audit_text(const TextAudit& audit, const Comparison* comparison, const TextStyle& style) {
  std::string text = wrapped(styled(audit_headline(audit), style), "", style.width);
  text += rows_text(rows_of(audit.findings), style, kTopicWidth);
  for (const TextLoopAudit& loop : audit.loops) {
    text += "\n" + styled(loop_title(loop), style) + "\n";
    text += rows_text(rows_of(loop.findings), style, kTopicWidth);
    if (loop.loads.empty()) continue;
    std::vector<std::vector<std::string>> rows;
    for (const LoadRow& row : loop.loads) {
      rows.push_back(load_cells(row));
      for (std::string& cell : rows.back()) cell = styled(cell, style);
    }
    text += "\n" + text_table(load_columns(), rows, style.width);
  }
  return comparison ? text + "\n" + comparison_text(*comparison, style) : text;
}

std::string audit_markdown(const TextAudit& audit, const Comparison* comparison) {
  std::string text = "### " + markdown_safe(audit_headline(audit)) + "\n\n" + rows_markdown(rows_of(audit.findings));
  for (const TextLoopAudit& loop : audit.loops) {
    text += "\n**" + markdown_safe(loop_title(loop)) + "**\n\n" + rows_markdown(rows_of(loop.findings));
    if (loop.loads.empty()) continue;
    text += "\n" + markdown_head(load_columns());
    for (const LoadRow& row : loop.loads) text += markdown_row(load_cells(row));
  }
  return comparison ? text + "\n" + comparison_markdown(*comparison) : text;
}

Json audit_json(const TextAudit& audit, const Comparison* comparison) {
  Json root = Json::object(), loops = Json::array();
  root.set("title", audit.title)
      .set("kernel", audit.kernel)
      .set("target", fmt::format("sm_{}", audit.target))
      .set("form", to_string(audit.form))
      .set("num_warps", audit.num_warps)
      .set("memory", memory_json(audit.memory))
      .set("headline", audit_headline(audit))
      .set("clean", audit.clean())
      .set("findings", findings_json(audit.findings));
  for (const TextLoopAudit& a : audit.loops) {
    Json item = Json::object();
    item.set("loop", a.loop->number).set("line", a.loop->line).set("ops", a.loop->ops).set("tile_ops", a.loop->tile_ops);
    item.set("edges", a.edges)
        .set("fused_ops", a.fused)
        .set("products", a.loop->products)
        .set("num_stages", a.loop->num_stages)
        .set("loads", loads_json(a.loads));
    loops.push(std::move(item.set("findings", findings_json(a.findings))));
  }
  root.set("loops", std::move(loops));
  return root.set("comparison", comparison ? comparison_json(*comparison) : Json());
}

}  // namespace heddle::triton

// Fields are quoted only where RFC 4180 demands it.
#include "core/chart/csv.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/scanner.h"
#include "core/chart/op_rows.h"

namespace heddle {
namespace {

/// "-5", "+0.25", "1e-3": as a whole.
bool is_number(const std::string& text) {
  if (text.starts_with("+-")) return false;
  const auto value = read_number<double>(std::string_view(text).substr(text.starts_with('+') ? 1 : 0));
  return value && std::isfinite(*value);
}

/// Spreadsheets look behind blanks and tabs too, and run what they take for a formula.
std::string harmless(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  const std::size_t first = text.find_first_not_of(' ');
  if (first != std::string::npos && std::string_view("=@+-").find(text[first]) != std::string_view::npos && !is_number(text))
    text.insert(0, 1, '\'');
  return text;
}

std::string field(const std::string& cell) {
  const std::string text = harmless(cell);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string csv_record(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    line += field(fields[i]);
  }
  return line + "\r\n";
}

std::string op_csv(const Problem& problem, const Schedule* schedule, const EndOps* ends) {
  std::string text = csv_record({"op", "kind", "group", "role", "warps", "stage", "slot_cycles", "start_cycles", "end_cycles",
                                 "latency_cycles", "window_cycles", "slack_cycles", "units", "section", "machine"});
  for (const OpRow& row : op_rows(problem, schedule)) {
    const Op& op = problem.op(row.op);
    const auto when = [&](Cycle cycles) { return schedule ? std::to_string(cycles) : std::string(); };
    text += csv_record({op.name, op.kind, schedule ? std::to_string(row.group.index()) : "",
                        schedule ? schedule->groups[row.group.index()].role : "", std::to_string(op.warps), when(row.stage), when(row.slot),
                        when(row.start), when(row.end), std::to_string(op.latency), std::to_string(op.window),
                        row.slack ? std::to_string(*row.slack) : "", row.uses, "loop", machine_title(problem)});
  }
  if (!ends) return text;
  for (const EndOp& end : ends->ops) {
    const Op& op = ends->problem.op(end.op);
    text += csv_record({op.name, op.kind, schedule ? std::to_string(end.group.index()) : "",
                        schedule ? ends->groups[end.group.index()].role : "", std::to_string(op.warps), "", "", "", "",
                        std::to_string(op.latency), std::to_string(op.window), "", describe_uses(ends->problem, op), to_string(end.section),
                        machine_title(problem)});
  }
  return text;
}

}  // namespace heddle

// Fields are quoted only where RFC 4180 demands it.
#include "core/report/csv.h"

#include <vector>

#include "core/report/op_rows.h"

namespace heddle {
namespace {

std::string field(const std::string& text) {
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

std::string op_csv(const Problem& problem, const Schedule* schedule) {
  std::string text = csv_record({"op", "kind", "group", "role", "warps", "stage", "slot_cycles", "start_cycles",
                             "end_cycles", "latency_cycles", "window_cycles", "slack_cycles", "units"});
  for (const OpRow& row : op_rows(problem, schedule)) {
    const Op& op = problem.op(row.op);
    const auto when = [&](Cycle cycles) { return schedule ? std::to_string(cycles) : std::string(); };
    text += csv_record({op.name, op.kind, schedule ? std::to_string(row.group.index()) : "",
                    schedule ? schedule->groups[row.group.index()].role : "", std::to_string(op.warps), when(row.stage),
                    when(row.slot), when(row.start), when(row.end), std::to_string(op.latency),
                    std::to_string(op.window), row.slack ? std::to_string(*row.slack) : "", row.uses});
  }
  return text;
}

}  // namespace heddle

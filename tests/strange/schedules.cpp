// Schedules, demands, changed numbers and projects for a problem.
#include <fmt/format.h>

#include <algorithm>

#include "core/problem/problem.h"
#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

const std::string& any_op(Dice& dice, const Problem& problem) { return dice.pick(problem.ops).name; }

Document op_list(Dice& dice, const Problem& problem, std::size_t least, std::size_t most) {
  std::vector<std::string> names;
  for (const Op& op : problem.ops) names.push_back(op.name);
  Document list = Document::array();
  const std::size_t wanted = std::min(most, least + static_cast<std::size_t>(dice.between(0, 2)));
  while (list.size() < wanted && !names.empty()) {
    const auto at = static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(names.size()) - 1));
    list.push_back(names[at]);
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return list;
}

/// Says anything; the problem's digest is the right one, none, or another's.
Document certificate(Dice& dice, const Problem& problem, std::int64_t ii) {
  Document c{{"status", dice.pick({"optimal", "optimal", "feasible", "infeasible", "unknown", "invalid"})},
             {"ii", dice.chance(80) ? ii : dice.odd(0, kLargest)}};
  if (dice.chance(80)) c["lower_bound"] = dice.chance(50) ? ii : dice.odd(0, kLargest);
  if (dice.chance(60)) c["reason"] = dice.pick({"none", "resource", "recurrence", "refutation", "requested"});
  if (dice.chance(40)) c["explanation"] = "because <it> \"is\" so & 100 %";
  if (dice.chance(40))
    c["objectives"] = {{{"name", "ii"}, {"value", dice.odd(-5, kLargest)}, {"proved", dice.chance(50)}},
                       {{"name", "beauty"}, {"value", 3}}};
  if (dice.chance(40)) c["seed"] = 18446744073709551615ull;
  if (dice.chance(40)) c["seconds"] = dice.chance(50) ? 0.0 : 1e300;
  if (dice.chance(70)) c["problem_hash"] = dice.chance(70) ? problem_hash(problem) : "0123456789abcdef";
  if (dice.chance(60)) c["checked"] = dice.chance(70);
  return c;
}

/// Members that may be anything without making the file another one.
void decorate(Dice& dice, Document& schedule, const Problem& problem) {
  if (dice.chance(50)) schedule["certificate"] = certificate(dice, problem, schedule["ii"]);
  if (dice.chance(5)) schedule["certificate"] = nullptr;
  if (dice.chance(50))
    schedule["provenance"] = {{"kind", dice.pick({"solver", "hand", "baseline", "imported", "edited", "dreamt"})},
                              {"author", "A & B <c>"},
                              {"note", dice.pick({"", "\"quoted\"", "=1+1", "tab\tbed"})}};
  if (dice.chance(20)) schedule["name"] = dice.pick({"", "two words", "<b>&\"'", "=cmd()", "ünïcödé"});
  if (dice.chance(10)) schedule["x-note"] = {1, 2, 3};
  if (dice.chance(30))
    for (std::size_t i = schedule["ops"].size(); i > 1; --i)
      std::swap(schedule["ops"][i - 1], schedule["ops"][static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(i) - 1))]);
}

}  // namespace

Document schedule_document(Dice& dice, const Problem& problem) {
  const std::int64_t ii = dice.chance(70) ? dice.between(1, 2000) : dice.odd(1, kLargest);
  const std::int64_t groups = dice.chance(10) ? dice.between(8, 40) : dice.between(1, 4);
  Document schedule{{"schema", "heddle.schedule/1"}, {"kernel", problem.kernel}, {"machine", problem.machine}};
  if (dice.chance(70)) schedule["params"] = problem.params;
  if (schedule.contains("params") && schedule["params"].is_null()) schedule["params"] = Document::object();
  schedule["ii"] = ii;
  Document list = Document::array();
  for (std::int64_t g = 0; g < groups; ++g) {
    Document group{{"warps", dice.chance(80) ? dice.between(1, 8) : dice.odd(0, 1024)}};
    if (dice.chance(50)) group["id"] = g;
    if (dice.chance(50)) group["role"] = dice.pick({"", "producer", "mma", "consumer", "a.b-c (d)", "0"});
    if (dice.chance(70)) group["registers"] = dice.odd(0, 65536);
    list.push_back(group);
  }
  schedule["groups"] = list;
  const std::int64_t most_stages = dice.chance(80) ? 3 : dice.chance(50) ? 100 : kLargest / ii;
  Document ops = Document::array();
  std::int64_t now = 0;
  for (const Op& op : problem.ops) {
    std::int64_t start = dice.chance(60) ? now : dice.between(0, ii - 1) + ii * dice.odd(0, std::max<std::int64_t>(most_stages, 1) - 1);
    start = std::clamp<std::int64_t>(start, 0, kLargest);
    now = std::min<std::int64_t>(start + op.latency, kLargest);
    Document placed{{"id", op.name}, {"start", start}, {"group", dice.chance(60) ? 0 : dice.between(0, groups - 1)}};
    if (dice.chance(30)) placed["stage"] = start / ii;
    if (dice.chance(30)) placed["slot"] = start % ii;
    ops.push_back(placed);
  }
  schedule["ops"] = ops;
  Document channels = Document::array();
  for (const Channel& channel : problem.channels)
    if (!channel.only_if_crossing || dice.chance(50))
      channels.push_back({{"value", channel.name}, {"depth", dice.chance(70) ? dice.between(0, 3) : dice.odd(0, 1 << 20)}});
  if (!channels.empty()) schedule["channels"] = channels;
  decorate(dice, schedule, problem);
  return schedule;
}

Document disguised_schedule(Dice& dice, Document schedule, const Problem& problem) {
  schedule.erase("certificate");
  for (Document& group : schedule["groups"]) {
    if (dice.chance(50)) group.erase("ops");
    if (dice.chance(10)) group["warps"] = dice.between(1, 8);
  }
  for (std::int64_t n = dice.chance(30) ? dice.between(1, 20) : 0; n > 0; --n)
    schedule["groups"].push_back({{"warps", dice.between(0, 1)}});
  if (dice.chance(30)) {  // the same schedule some iterations later
    const std::int64_t later = dice.chance(50) ? 1 : dice.between(1, 1 << 20);
    for (Document& op : schedule["ops"]) {
      op["start"] = op["start"].get<std::int64_t>() + later * schedule["ii"].get<std::int64_t>();
      op.erase("stage");
    }
  }
  if (dice.chance(20) && schedule.contains("channels"))
    for (Document& channel : schedule["channels"]) channel["depth"] = channel["depth"].get<std::int64_t>() + dice.between(0, 1000);
  decorate(dice, schedule, problem);
  return schedule;
}

Document constraints_document(Dice& dice, const Problem& problem) {
  Document list = Document::array(), changes = Document::array();
  for (std::int64_t n = dice.between(0, 3); n > 0; --n) {
    const std::string kind =
        dice.pick({"pin", "range", "in_group", "not_in_group", "same_group", "different_group", "before", "same_stage", "earlier_stage",
                   "max_stages", "max_warps", "max_groups", "max_registers", "max_smem", "max_tmem", "max_depth", "one_by_one"});
    Document c{{"kind", kind}};
    const bool two =
        kind == "same_group" || kind == "different_group" || kind == "same_stage" || kind == "earlier_stage" || kind == "before";
    if (two && problem.ops.size() < 2) continue;
    if (two) c["ops"] = op_list(dice, problem, 2, kind == "before" || kind == "earlier_stage" ? 2 : 4);
    if (kind == "pin") c["at"] = dice.odd(0, dice.chance(80) ? 1000 : kLargest);
    if (kind == "range") c["low"] = dice.between(0, 50), c["high"] = dice.chance(70) ? dice.between(50, 900) : kLargest;
    if (kind == "in_group" || kind == "not_in_group") c["group"] = dice.chance(80) ? dice.between(0, 2) : dice.odd(0, kLargest);
    if (!two && kind.find("max") == std::string::npos && kind != "one_by_one") c["ops"] = op_list(dice, problem, 1, 3);
    if (kind == "before") c["delay"] = dice.chance(80) ? dice.between(-20, 100) : dice.odd(-kLargest, kLargest);
    if (kind == "earlier_stage") c["stages"] = dice.chance(80) ? dice.between(1, 3) : dice.odd(1, kLargest);
    if (kind.starts_with("max_")) c["limit"] = dice.odd(0, dice.chance(70) ? 300 : kLargest);
    if (kind == "max_depth") {
      if (problem.channels.empty()) continue;
      c["channel"] = dice.pick(problem.channels).name;
    }
    if (dice.chance(30)) c["enabled"] = dice.chance(70);
    if (dice.chance(30)) c["name"] = fmt::format("demand {}: \"so\"", list.size());
    list.push_back(c);
  }
  for (std::int64_t n = dice.chance(40) ? dice.between(1, 2) : 0; n > 0; --n) {
    Document c;
    switch (dice.between(0, 4)) {
      case 0: c = {{"kind", dice.pick({"latency", "window"})}, {"op", any_op(dice, problem)}}; break;
      case 1: c = {{"kind", "duration"}, {"op", any_op(dice, problem)}}; break;
      case 2:
        if (problem.units.empty()) continue;
        c = {{"kind", "capacity"}, {"unit", dice.pick(problem.units).name}};
        break;
      case 3: c = {{"kind", "handoff"}, {"field", dice.pick({"signal", "register_copy"})}}; break;
      default: c = {{"kind", "groups"}}; break;
    }
    const bool positive = c["kind"] == "capacity" || c["kind"] == "groups";
    switch (dice.between(0, 2)) {
      case 0: c["to"] = positive ? dice.between(1, 4) : dice.between(0, 90); break;
      case 1: c["add"] = dice.between(0, 5); break;
      default: c["percent"] = positive ? dice.between(0, 300) : dice.between(-99, 300); break;
    }
    if (dice.chance(30)) c["enabled"] = dice.chance(70);
    changes.push_back(c);
  }
  Document document{{"schema", "heddle.constraints/1"}};
  if (!list.empty() || changes.empty()) document["constraints"] = list;
  if (!changes.empty()) document["changes"] = changes;
  return document;
}

std::string demand_sentence(Dice& dice, const Problem& problem) {
  const auto quoted = [](const std::string& name) { return "\"" + name + "\""; };
  const std::string a = quoted(any_op(dice, problem)), b = quoted(any_op(dice, problem));
  switch (dice.between(0, 7)) {
    case 0: return fmt::format("pin {} at {}", a, dice.between(0, 200));
    case 1: return fmt::format("{} in group {}", a, dice.between(0, 2));
    case 2:
      return a == b ? "iterations one by one"
                    : fmt::format("{} before {} by {}{}", a, b, dice.between(0, 40), dice.chance(20) ? " stages" : "");
    case 3: return fmt::format("registers <= {}", dice.between(0, 300));
    case 4: return fmt::format("at most {} stages", dice.between(1, 5));
    case 5: return a == b ? "at most 1 group" : fmt::format("{} and {} in one group", a, b);
    case 6: return fmt::format("{} from {} to {}", a, dice.between(0, 9), dice.between(10, 500));
    default: return "iterations one by one";
  }
}

std::string change_text(Dice& dice, const Problem& problem) {
  const std::string value = dice.pick({"+10%", "-10%", "+1", "7", "+300%", "64"});
  switch (dice.between(0, 4)) {
    case 0: return fmt::format("{}.latency={}", any_op(dice, problem), value);
    case 1: return fmt::format("{}.window={}", any_op(dice, problem), value);
    case 2: return fmt::format("handoff.{}={}", dice.pick({"signal", "register_copy"}), value);
    case 3:
      return problem.units.empty() ? "groups=2"
                                   : fmt::format("{}.capacity={}", dice.pick(problem.units).name, dice.pick({"+1", "+10%", "100000"}));
    default: return fmt::format("groups={}", dice.between(1, 4));
  }
}

Document project_document(Dice& dice, const Problem& problem, const std::string& kernel, const std::string& machine) {
  Document project{{"schema", "heddle.project/1"}, {"kernel", {{"source", kernel}}}, {"machine", {{"source", machine}}}};
  if (dice.chance(40)) project["problem_hash"] = dice.chance(70) ? problem_hash(problem) : "ffffffffffffffff";
  if (dice.chance(40)) {
    const Document demands = constraints_document(dice, problem);
    if (demands.contains("constraints")) project["constraints"] = demands["constraints"];
  }
  Document schedules = Document::array();
  for (std::int64_t n = dice.between(1, 3); n > 0; --n) {
    Document entry{{"name", dice.pick({"mine", "yours", "<third>", "=4"})}, {"schedule", schedule_document(dice, problem)}};
    if (dice.chance(60)) entry["status"] = dice.pick({"optimal", "feasible", "infeasible", "unknown", "invalid"});
    if (dice.chance(40)) entry["lower_bound"] = dice.odd(0, kLargest);
    if (dice.chance(20)) entry["objectives"] = {{{"name", "ii"}, {"value", 1}, {"proved", true}}};
    if (dice.chance(20)) entry["seconds"] = 1e9;
    schedules.push_back(entry);
  }
  project["schedules"] = schedules;
  const auto last = static_cast<std::int64_t>(schedules.size()) - 1;
  project["a"] = dice.between(0, last);
  if (dice.chance(50)) project["b"] = dice.between(0, last);
  if (dice.chance(30))
    project["notes"] = {{{"text", "note & <mark>"}, {"op", any_op(dice, problem)}}, {{"text", ""}, {"at", dice.odd(-kLargest, kLargest)}}};
  if (dice.chance(30)) project["flags"] = {0, dice.odd(-kLargest, kLargest)};
  if (dice.chance(30)) project["selection"] = {any_op(dice, problem)};
  if (dice.chance(30))
    project["view"] = {{"mode", dice.pick({"steady", "unrolled", "pipeline"})},
                       {"iterations", dice.between(1, 64)},
                       {"begin", -kLargest},
                       {"end", kLargest}};
  return project;
}

std::string written(Dice& dice, const Document& document) {
  if (dice.chance(20)) {
    Document with{{"$schema", "urn:odd"}, {"x-first", nullptr}};
    with.update(document);
    return with.dump(dice.chance(50) ? 7 : -1);
  }
  return document.dump(dice.chance(30) ? -1 : static_cast<int>(dice.between(0, 4))) + (dice.chance(50) ? "\n" : "");
}

}  // namespace heddle::strange

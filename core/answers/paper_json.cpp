// Key by key.
#include "core/answers/paper_json.h"

#include "core/answers/outcome_json.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json known(Cycle value) { return value > 0 ? Json(value) : Json(); }

Json names(const Problem& problem, const std::vector<OpId>& ops) {
  Json list = Json::array();
  for (const OpId op : ops) list.push(problem.op(op).name);
  return list;
}

Json window_json(const PaperWindow& window) {
  return Json::object()
      .set("i", window.ii)
      .set("first_l", window.first_length)
      .set("last_l", window.last_length)
      .set("copies", window.copies)
      .set("status", to_string(window.status))
      .set("seconds", seconds_json(window.seconds));
}

Json normalization_json(const PaperNormalization& n) {
  if (!n.applied) return Json();
  return Json::object()
      .set("u", n.u)
      .set("entries", n.entries)
      .set("zeros", n.zeros)
      .set("f", n.error)
      .set("sum", n.sum)
      .set("largest", n.largest)
      .set("largest_normalized", n.largest_normalized)
      .set("tie_broken", n.tie_broken);
}

Json ops_json(const Problem& problem, const PaperAnswer& answer) {
  Json list = Json::array();
  for (const PaperCost& cost : answer.costs) {
    Json op = Json::object();
    op.set("id", problem.op(cost.op).name).set("native", cost.native).set("normalized", cost.normalized);
    op.set("start", answer.ii > 0 ? Json(answer.starts[cost.op.index()]) : Json());
    list.push(std::move(op));
  }
  return list;
}

Json groups_json(const Problem& problem, const PaperAnswer& answer) {
  Json list = Json::array();
  for (const PaperGroup& group : answer.groups) {
    Json warps = Json::array();
    for (const int warp : group.warps) warps.push(warp);
    list.push(Json::object()
                  .set("warps", std::move(warps))
                  .set("variable_latency", group.variable_latency)
                  .set("ops", names(problem, group.ops)));
  }
  return list;
}

Json worth_json(const Problem& problem, const PaperWorth& worth) {
  Json root = Json::object();
  root.set("deadlock", worth.deadlock).set("period", worth.deadlock ? Json() : Json(worth.period));
  root.set("period_limit", worth.limit);
  root.set("native_ii", worth.native_ii ? Json(*worth.native_ii) : Json()).set("native_proved", worth.native_proved);
  root.set("checker", worth.deadlock ? Json() : verdict_json(problem, check(problem, worth.schedule)));
  root.set("groups", heddle::groups_json(problem, worth.schedule));
  root.set("ops", worth.deadlock ? Json::array() : placements_json(problem, worth.schedule));
  root.set("channels", channels_json(problem, worth.schedule));
  return root;
}

}  // namespace

Json paper_settings_json(const std::vector<PaperSetting>& settings) {
  Json list = Json::array();
  for (const PaperSetting& setting : settings) {
    Json item = Json::object();
    item.set("name", setting.name).set("value", setting.value).set("default", setting.standard);
    if (setting.words.empty()) {
      item.set("low", setting.low).set("high", setting.high);
    } else {
      Json words = Json::array();
      for (const std::string& word : setting.words) words.push(word);
      item.set("values", std::move(words));
    }
    list.push(std::move(item.set("about", setting.about)));
  }
  return Json::object().set("switches", std::move(list));
}

Json paper_json(const Problem& problem, const PaperAnswer& answer) {
  Json root = Json::object();
  root.set("status", to_string(answer.status)).set("explanation", answer.explanation);
  set_problem(root, problem);
  root.set("i", known(answer.ii)).set("l", known(answer.length)).set("copies", known(answer.copies));
  root.set("modulo_i", known(answer.modulo_ii)).set("modulo_l", known(answer.modulo_length));
  root.set("normalization", normalization_json(answer.normalization));
  root.set("ops", ops_json(problem, answer)).set("groups", groups_json(problem, answer));
  Json windows = Json::array(), ablations = Json::array(), remarks = Json::array();
  for (const PaperWindow& window : answer.windows) windows.push(window_json(window));
  for (const PaperAblation& a : answer.ablations)
    ablations.push(Json::object()
                       .set("name", a.name)
                       .set("change", a.change)
                       .set("status", to_string(a.status))
                       .set("window", a.window.ii > 0 ? window_json(a.window) : Json())
                       .set("finding", a.finding));
  for (const std::string& remark : answer.remarks) remarks.push(remark);
  root.set("windows", std::move(windows));
  root.set("worth", answer.worth ? worth_json(problem, *answer.worth) : Json());
  root.set("ablations", std::move(ablations)).set("remarks", std::move(remarks));
  root.set("seconds", Json::object()
                          .set("normalize", seconds_json(answer.seconds.normalize))
                          .set("modulo", seconds_json(answer.seconds.modulo))
                          .set("joint", seconds_json(answer.seconds.joint))
                          .set("native", seconds_json(answer.seconds.native))
                          .set("total", seconds_json(answer.seconds.total)));
  Json switches = Json::object();
  for (const PaperSetting& setting : answer.settings) switches.set(setting.name, setting.value);
  root.set("switches", std::move(switches)).set("solver", answer.solver);
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out);
  return root;
}

}  // namespace heddle

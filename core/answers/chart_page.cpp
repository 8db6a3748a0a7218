#include "core/answers/chart_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/page_files.h"
#include "core/answers/simulation.h"
#include "core/answers/summary.h"
#include "core/base/assert.h"
#include "core/base/json.h"
#include "core/base/version.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"
#include "core/chart/op_facts.h"
#include "core/chart/op_rows.h"
#include "core/chart/role_palette.h"
#include "core/chart/svg.h"
#include "core/simulate/forecast.h"

namespace heddle {
namespace {

// --- what the script draws

Json role_json(UnitRole role) {
  const RolePaint paint = role_paint(role);
  return Json::object().set("fill", fmt::format("#{:06x}", paint.fill)).set("text", fmt::format("#{:06x}", paint.text));
}

/// By row, lane and begin. The ops of prologue and epilogue follow those of the loop; pauses follow both.
Json bars_json(const GanttModel& model, std::size_t loop_ops, std::size_t all_ops) {
  struct Placed {
    std::size_t row;
    int lane;
    Cycle begin;
    Json item;
  };
  std::vector<Placed> placed;
  const auto put = [&](std::size_t op, int iteration, std::size_t row, int lane, Cycle begin, Cycle end, Cycle ready, int flags) {
    Json item = Json::array();
    item.push(op).push(iteration).push(row).push(lane);
    item.push(begin).push(end).push(ready).push(flags);
    placed.push_back({row, lane, begin, std::move(item)});
  };
  for (const GanttBar& bar : model.bars) {
    const int flags = (bar.critical ? 1 : 0) + (bar.violating ? 2 : 0) + (bar.wraps_left ? 4 : 0) + (bar.wraps_right ? 8 : 0);
    put(bar.op.index(), bar.iteration, bar.row, bar.lane, bar.begin, bar.end, bar.latency_end, flags);
  }
  constexpr int kOnce = 16;
  for (const GanttEndBar& bar : model.ends) put(loop_ops + bar.end, 0, bar.row, bar.lane, bar.begin, bar.end_at, bar.latency_end, kOnce);
  for (std::size_t p = 0; p < model.pauses.size(); ++p) {
    const GanttPause& pause = model.pauses[p];
    put(all_ops + p, 0, pause.row, pause.lane, pause.begin, pause.end, pause.end, pause.kind == GanttPause::Kind::Issue ? 0 : kOnce);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return std::tie(a.row, a.lane, a.begin) < std::tie(b.row, b.lane, b.begin); });
  Json bars = Json::array();
  for (Placed& bar : placed) bars.push(std::move(bar.item));
  return bars;
}

Json usage_json(const GanttLane& lane) {
  Json steps = Json::array();
  for (const UsageStep& step : lane.profile) steps.push(step.at).push(step.value);
  const char* unit = lane.measure == LaneMeasure::Unit      ? "%"
                     : lane.measure == LaneMeasure::Bytes   ? " B"
                     : lane.measure == LaneMeasure::Columns ? " columns"
                                                            : " registers";
  return Json::object()
      .set("label", lane.label)
      .set("detail", lane.detail)
      .set("role", to_string(lane.role))
      .set("unit", unit)
      .set("capacity", lane.capacity)
      .set("allocated", lane.allocated)
      .set("full", lane.full())
      .set("steps", std::move(steps));
}

/// A stretch: slot, begin, end, strength, and what the page says of it.
Json barrier_json(const ChartPage& page, const GanttModel& model, const BarrierLane& lane) {
  using State = BarrierSpan::State;
  Json spans = Json::array();
  for (const BarrierSpan& span : lane.spans) {
    const double strength = span.state == State::Filling ? 0.2 : span.state == State::Full ? 0.4 : span.state == State::Passed ? 0.12 : 0.7;
    const bool of_group = span.state == State::Read || span.state == State::Held;
    Json item = Json::array();
    item.push(span.slot).push(span.begin).push(span.end).push(strength);
    item.push(!span.name.empty() ? printable(span.name)
              : of_group         ? printable(model.groups[span.group.index()].label)
                                 : std::string(to_string(span.state)));
    item.push(printable(span_text(page.problem, page.schedule, lane, span, model.mode == GanttMode::Steady)));
    spans.push(std::move(item));
  }
  return Json::object()
      .set("label", printable(lane.label))
      .set("detail", lane.detail)
      .set("role", to_string(lane.role))
      .set("slots", lane.slots)
      .set("spans", std::move(spans));
}

constexpr int kMostSlotsDrawn = 32;

/// In the same form: a strip for every slot, the first at the bottom, and below them one that says who waits.
Json queue_json(const ChartPage& page, const GanttModel& model, const QueueLane& lane) {
  Json spans = Json::array();
  const auto put = [&](int strip, Cycle begin, Cycle end, double strength, const char* word, std::string sentence) {
    Json item = Json::array();
    item.push(strip).push(begin).push(end).push(strength).push(word).push(std::move(sentence));
    spans.push(std::move(item));
  };
  for (int slot = 1; slot <= lane.depth && lane.depth <= kMostSlotsDrawn; ++slot)
    for (const auto& [curve, strength] : {std::pair(&lane.taken, 0.25), std::pair(&lane.filled, 0.6)})
      for (std::size_t s = 0; s < curve->size(); ++s) {
        const Cycle from = (*curve)[s].at, to = s + 1 < curve->size() ? (*curve)[s + 1].at : model.end;
        if ((*curve)[s].value >= slot && to > from) put(lane.depth - slot, from, to, strength, "", queue_value(lane, from));
      }
  for (const QueueMark& mark : lane.marks)
    put(lane.depth, mark.begin, mark.end, 1, to_string(mark.state),
        printable(mark_text(page.problem, page.schedule, mark, model.mode == GanttMode::Steady)));
  return Json::object()
      .set("label", printable(lane.label))
      .set("detail", lane.detail)
      .set("role", to_string(lane.role))
      .set("slots", std::min(lane.depth, kMostSlotsDrawn) + 1)
      .set("spans", std::move(spans));
}

Json view_json(const ChartPage& page, const GanttModel& model) {
  const std::size_t loop_ops = page.problem.ops.size(), all_ops = loop_ops + (page.ends ? page.ends->ops.size() : 0);
  Json barriers = Json::array();
  for (const BarrierLane& lane : model.barriers) barriers.push(barrier_json(page, model, lane));
  for (const QueueLane& lane : model.queues) barriers.push(queue_json(page, model, lane));
  Json groups = Json::array(), rows = Json::array();
  for (const GanttGroup& group : model.groups)
    groups.push(Json::object()
                    .set("label", printable(group.label))
                    .set("detail", group.detail)
                    .set("first", group.first_row)
                    .set("rows", group.rows));
  for (const GanttRow& row : model.rows)
    rows.push(Json::object().set("label", printable(row.label)).set("role", to_string(row.role)).set("lanes", row.lanes));
  Json marks = Json::array(), phases = Json::array(), usage = Json::array();
  for (const GanttMark& mark : model.marks) {
    Json item = Json::array();
    item.push(mark.at).push(mark.label);
    (mark.strong ? marks : phases).push(std::move(item));
  }
  for (const GanttLane& lane : model.lanes) usage.push(usage_json(lane));
  return Json::object()
      .set("steady", model.mode == GanttMode::Steady)
      .set("begin", model.begin)
      .set("end", model.end)
      .set("marks", std::move(marks))
      .set("phases", std::move(phases))
      .set("usage", std::move(usage))
      .set("groups", std::move(groups))
      .set("rows", std::move(rows))
      .set("barriers", std::move(barriers))
      .set("bars", bars_json(model, loop_ops, all_ops));
}

const char* css_of(FactLine::Tone tone) {
  switch (tone) {
    case FactLine::Tone::Plain: return "";
    case FactLine::Tone::Dim: return "dim";
    case FactLine::Tone::Tight: return "warn";
    case FactLine::Tone::Bad: return "bad";
  }
  return "";
}

/// What the window's tooltip says of an op, whichever iteration.
Json op_json(const ChartPage& page, const GanttBar& bar) {
  Json facts = Json::array();
  const auto add = [&](const FactLine& line) {
    Json item = Json::array();
    item.push(css_of(line.tone)).push(line.text);
    facts.push(std::move(item));
  };
  for (const FactLine& line : start_facts(page.problem, page.schedule, bar.op)) add(line);
  if (page.machine) {
    const std::string source = latency_source(*page.machine, page.problem, bar.op);
    if (!source.empty()) add({"latency from: " + source, FactLine::Tone::Dim});
  }
  if (bar.violating) add({"breaks a rule: see what is said above the chart", FactLine::Tone::Bad});
  if (bar.critical) add({"critical: takes part in what limits II", FactLine::Tone::Plain});
  for (const FactLine& line : dependence_facts(page.problem, page.schedule, bar.op)) add(line);
  return Json::object().set("name", printable(page.problem.op(bar.op).name)).set("facts", std::move(facts));
}

/// Of an op of prologue or epilogue: once per tile, neither scheduled nor proved.
Json end_json(const EndOps& ends, const EndOp& end) {
  const Op& op = ends.problem.op(end.op);
  Json facts = Json::array();
  const auto add = [&](const char* css, const std::string& text) {
    Json item = Json::array();
    item.push(css).push(text);
    facts.push(std::move(item));
  };
  add("", fmt::format("{}, {} of the kernel", printable(op.kind), to_string(end.section)));
  add("dim", fmt::format("result usable {} cycles after its start", grouped(op.latency)));
  if (!end.cost_known) add("warn", "no cost is known, taken as nothing");
  return Json::object().set("name", printable(op.name)).set("once", to_string(end.section)).set("facts", std::move(facts));
}

/// Not an op: what holds a group's warps, and why.
Json pause_json(const GanttPause& pause) {
  Json fact = Json::array();
  fact.push("").push(printable(pause_text(pause)));
  Json facts = Json::array();
  facts.push(std::move(fact));
  const bool issues = pause.kind == GanttPause::Kind::Issue;
  return Json::object()
      .set("name", issues ? "issue " + printable(pause.label) : std::string(to_string(pause.kind)))
      .set("pause", issues ? "holds its warps" : "its warps wait")
      .set("facts", std::move(facts));
}

/// Pre: the first view is the steady one.
Json data_json(const ChartPage& page, const std::vector<GanttModel>& shown) {
  const GanttModel& steady = shown.front();
  Json roles = Json::object(), ops = Json::array(), edges = Json::array();
  const auto need = [&](UnitRole role) { roles.set(to_string(role), role_json(role)); };
  for (const GanttModel& model : shown)
    for (const GanttLane& lane : model.lanes) need(lane.role);
  for (const GanttModel& model : shown)
    for (const GanttRow& row : model.rows) need(row.role);
  for (const GanttModel& model : shown) {
    for (const BarrierLane& lane : model.barriers) need(lane.role);
    for (const QueueLane& lane : model.queues) need(lane.role);
  }
  std::vector<const GanttBar*> bar_of(page.problem.ops.size());
  for (const GanttBar& bar : steady.bars) bar_of[bar.op.index()] = &bar;
  for (const GanttBar* bar : bar_of) ops.push(op_json(page, *bar));
  if (page.ends)
    for (const EndOp& end : page.ends->ops) ops.push(end_json(*page.ends, end));
  for (const GanttPause& pause : shown.back().pauses) ops.push(pause_json(pause));
  for (const Edge& edge : page.problem.edges) {
    Json item = Json::array();
    item.push(edge.from.index()).push(edge.to.index()).push(edge.distance);
    edges.push(std::move(item));
  }
  Json views = Json::array();
  for (const GanttModel& model : shown) views.push(view_json(page, model));
  return Json::object()
      .set("ii", page.schedule.ii)
      .set("first", page.mode == GanttMode::Steady                          ? 0
                    : page.mode == GanttMode::Contended && shown.size() > 2 ? 2
                                                                            : 1)
      .set("roles", std::move(roles))
      .set("ops", std::move(ops))
      .set("edges", std::move(edges))
      .set("views", std::move(views));
}

/// JSON that no reader of HTML takes for a tag, whatever names it holds.
std::string inside_script(const Json& json) {
  std::string out;
  for (const char c : json.line()) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

/// Of assets/page.
std::string page_text(std::string_view name) {
  const auto files = page_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == name; });
  HEDDLE_ASSERT(found != files.end(), "the build puts the files of assets/page into the program");
  return std::string(found->body());
}

// --- what the page says in words

std::string paragraph(std::string_view css, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("<p{}>{}</p>\n", css.empty() ? "" : fmt::format(" class=\"{}\"", css), xml_text(printable(text)));
}

struct LeastIiStanding {
  std::string word;
  const char* css;
};

LeastIiStanding standing_of(const ChartPage& page) {
  if (!page.verdict.valid()) return {"invalid", "bad"};
  if (const auto& c = page.schedule.certificate; c && c->reason != BoundReason::Requested && c->lower_bound == page.schedule.ii)
    return {"proved" + stages_text(c->bound_stages), "good"};
  return {claim_text(page.schedule, "not proved"), "warn"};
}

std::string header(const ChartPage& page) {
  const Problem& problem = page.problem;
  const Schedule& schedule = page.schedule;
  const std::size_t changes = problem.changes.size();
  const Usage usage = compute_usage(problem, schedule);
  const Period period = sustainable_period(problem, schedule);
  const LeastIiStanding standing = standing_of(page);
  std::string html = fmt::format("<h1>{} on {}{}</h1>\n", xml_text(printable(problem.kernel)), xml_text(printable(problem.machine)),
                                 changes == 0 ? "" : " · " + count_of(static_cast<std::int64_t>(changes), "change"));
  std::string params;
  for (const auto& [name, value] : problem.params) params += fmt::format("{}{} = {}", params.empty() ? "" : ", ", name, value);
  html += paragraph("dim", params);
  if (changes > 0) html += paragraph("warn", fmt::format("changed: {}", fmt::join(problem.changes, ", ")));
  html += fmt::format("<p class=\"ii\"><b>II {}</b><span class=\"pill {}\">{}</span>", grouped(schedule.ii), standing.css,
                      xml_text(standing.word));
  std::vector<std::string> facts{printable(schedule.name)};
  if (schedule.certificate) facts.push_back("bound " + grouped(schedule.certificate->lower_bound));
  facts.push_back(period.deadlock ? "deadlocks" : "sustainable period " + grouped(period.cycles()));
  facts.push_back(count_of(stage_count(schedule), "stage"));
  facts.push_back(count_of(usage.warps, "warp"));
  if (usage.smem_bytes > 0) facts.push_back("shared memory " + bytes_of(usage.smem_bytes, problem.limits.smem_bytes));
  if (usage.tmem_columns > 0)
    facts.push_back(fmt::format("tensor memory {} of {} columns", usage.tmem_columns, problem.limits.tmem_columns));
  html += "<span class=\"dim\">" + xml_text(join_facts(facts, {})) + "</span></p>\n";
  if (page.prediction) {
    html += paragraph("", whole_kernel_text(*page.prediction));
    if (page.prediction->fault.empty()) html += paragraph("dim", page.trust);
  }
  if (!problem.clock_note.empty()) html += paragraph("dim", problem.clock_note);
  for (const Violation& violation : page.verdict.violations) html += paragraph("bad", violation.family + ": " + violation.message);
  return html;
}

// --- tables

struct Column {
  const char* title;
  bool number = false;
};

std::string head_of(const std::vector<Column>& columns) {
  std::string html = "<thead><tr>";
  for (const Column& column : columns) html += fmt::format("<th{}>{}</th>", column.number ? " class=\"n\"" : "", column.title);
  return html + "</tr></thead>\n<tbody>\n";
}

std::string cell(const Column& column, std::string_view text) {
  return fmt::format("<td{}>{}</td>", column.number ? " class=\"n\"" : "", xml_text(printable(text)));
}

std::string op_table_html(const ChartPage& page) {
  static const std::vector<Column> columns{{"op"},
                                           {"kind"},
                                           {"warp group"},
                                           {"start", true},
                                           {"stage", true},
                                           {"slot", true},
                                           {"latency", true},
                                           {"window", true},
                                           {"warps", true},
                                           {"slack", true},
                                           {"units (offset + cycles)"}};
  std::string html = "<h2>Ops</h2>\n<div class=\"wide\"><table id=\"ops\">\n" + head_of(columns);
  for (const OpRow& row : op_rows(page.problem, &page.schedule)) {
    const Op& op = page.problem.op(row.op);
    const UnitUse* use = primary_use(page.problem, op);
    const RolePaint paint = role_paint(use ? page.problem.unit(use->unit).role : UnitRole::Other);
    html += fmt::format("<tr data-op=\"{}\"><td><i style=\"background:#{:06x}\"></i>{}</td>", row.op.index(), paint.fill,
                        xml_text(printable(op.name)));
    const std::vector<std::string> cells{op.kind,
                                         page.schedule.groups[row.group.index()].role,
                                         grouped(row.start),
                                         fmt::format("{}", row.stage),
                                         grouped(row.slot),
                                         grouped(op.latency),
                                         grouped(op.window),
                                         fmt::format("{}", op.warps),
                                         row.slack ? grouped(*row.slack) : "",
                                         row.uses};
    for (std::size_t i = 0; i < cells.size(); ++i) html += cell(columns[i + 1], cells[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string table_html(const char* title, const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::string html = fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table>\n", title) + head_of(columns);
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) html += cell(columns[i], row[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string group_and_ring_tables(const ChartPage& page) {
  const Problem& problem = page.problem;
  std::vector<std::vector<std::string>> groups, rings;
  for (std::size_t g = 0; g < page.schedule.groups.size(); ++g) {
    const ScheduleGroup& group = page.schedule.groups[g];
    const auto ops =
        std::count_if(page.schedule.ops.begin(), page.schedule.ops.end(), [&](const Placement& p) { return p.group == GroupId(g); });
    groups.push_back(
        {group.role, std::to_string(group.warps), group.registers > 0 ? std::to_string(group.registers) : "", std::to_string(ops)});
  }
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    if (page.schedule.depths[c] == 0) continue;
    rings.push_back({channel.name, to_string(channel.space), std::to_string(page.schedule.depths[c]), grouped(channel.size),
                     channel.space == Space::Tmem ? "columns" : "bytes"});
  }
  return table_html("Warp groups", {{"group"}, {"warps", true}, {"registers per thread", true}, {"ops", true}}, groups) +
         table_html("Rings", {{"value"}, {"memory"}, {"depth", true}, {"slot", true}, {""}}, rings);
}

}  // namespace

KernelRun predict_kernel(const Instance& instance, const Schedule& schedule) {
  return run_kernel(instance, schedule, comparison_run());  // extrapolates long ones, and says so
}

std::string whole_kernel_text(const KernelRun& prediction) {
  if (!prediction.fault.empty()) return "no prediction of the whole kernel: " + printable(prediction.fault);
  return "whole kernel, predicted: " +
         join_facts({kernel_headline(prediction, {}), fmt::format("{} per SM", count_of(prediction.ctas, "CTA"))}, {});
}

std::string chart_html(const ChartPage& page) {
  GanttOptions options{GanttMode::Steady, page.iterations, &page.verdict, nullptr, page.barriers, page.tensor, page.queues};
  std::vector<GanttModel> shown{build_gantt(page.problem, page.schedule, options)};
  options.mode = GanttMode::Pipeline;
  options.ends = page.ends;
  shown.push_back(build_gantt(page.problem, page.schedule, options));
  const bool contended = page.problem.contention.known;
  options.mode = GanttMode::Contended;
  if (contended) shown.push_back(build_gantt(page.problem, page.schedule, options));
  const std::string title = xml_text(join_facts({problem_title(page.problem), picture_title(page.schedule)}, {}));
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
         "'unsafe-inline'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         title + "</title>\n<style>\n" + page_text("chart.css") + "</style>\n</head>\n<body>\n" + header(page) +
         fmt::format(
             "<div class=\"bar\"><button data-view=\"0\">Steady state</button><button data-view=\"1\">{}</button>{}"
             "<button id=\"fit\">Fit</button><span class=\"dim\">wheel or W S: zoom · drag or A D: move · 0: fit · U: other view · "
             "click: dependences stay · double click: zoom to a bar</span></div>\n",
             count_of(page.iterations, "iteration"), contended ? "<button data-view=\"2\">With contention</button>" : "") +
         "<div><canvas id=\"chart\" role=\"img\" aria-label=\"" + title + "\"></canvas></div>\n<div id=\"tip\"></div>\n<noscript>" +
         gantt_svg(shown.front()) + "</noscript>\n" + op_table_html(page) + group_and_ring_tables(page) +
         fmt::format(
             "<p class=\"dim\" style=\"margin-top:22px\">Heddle {} · times in cycles of the machine model · II is {}; what is called "
             "predicted comes from a simulation, not from a GPU</p>\n",
             version(), page.verdict.valid() ? "of a schedule that the checker finds valid" : "of a schedule that breaks rules") +
         "<script type=\"application/json\" id=\"data\">" + inside_script(data_json(page, shown)) + "</script>\n<script>\n" +
         page_text("chart.js") + "</script>\n</body>\n</html>\n";
}

}  // namespace heddle

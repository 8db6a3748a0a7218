// Every position comes from one canonical window: an op's bar sits at (start + offset) modulo II in the steady view, and the other views
// repeat it every II cycles, so the three pictures can never disagree. Lanes are chosen on that circle too; an op keeps its lane in every
// view and every iteration.
#include "core/chart/gantt_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/analysis/usage_curve.h"
#include "core/base/assert.h"
#include "core/base/text_style.h"
#include "core/chart/contended_gantt.h"
#include "core/chart/gantt_facts.h"

namespace heddle {

namespace {

/// An op may outlast II only where its unit has room for several; bars longer than this many windows are cut off.
constexpr Cycle kMaxWindows = 15;

/// Ports are crossed on the way to somewhere else: they name an op only when it uses nothing better.
bool is_port(UnitRole role) { return role == UnitRole::Smem || role == UnitRole::Tmem || role == UnitRole::Sync; }

/// Plain arithmetic is one row, whichever pipe it runs on.
UnitRole row_role(UnitRole role) { return role == UnitRole::Alu ? UnitRole::Float : role; }

/// Copies first, as data flows: load, multiply, exponentiate, the rest of the arithmetic, ports, no unit at all.
int row_rank(UnitRole role) {
  switch (role) {
    case UnitRole::Copy: return 0;
    case UnitRole::Tensor: return 1;
    case UnitRole::Special: return 2;
    case UnitRole::Float:
    case UnitRole::Alu: return 3;
    case UnitRole::Tmem: return 4;
    case UnitRole::Smem: return 5;
    case UnitRole::Sync: return 6;
    case UnitRole::Other: return 7;
  }
  return 7;
}

/// What one op looks like, the same in every iteration.
struct Shape {
  const UnitUse* use = nullptr;  ///< null: the issue row
  UnitRole role = UnitRole::Other;
  Cycle begin = 0;   ///< of the bar in iteration 0
  Cycle length = 1;  ///< at least 1, so that it can be seen and hit
  std::size_t row = 0;
  int lane = 0;
  int copies = 1;  ///< lanes it takes for itself: more than one only where it outlasts II
};

Shape shape_of(const Problem& problem, OpId id, Cycle start, Cycle ii) {
  const Op& op = problem.op(id);
  Shape shape;
  shape.use = primary_use(problem, op);
  shape.begin = start + (shape.use ? shape.use->offset : 0);
  if (shape.use) {
    shape.role = problem.unit(shape.use->unit).role;
    shape.length = shape.use->duration;
  } else {
    shape.length = std::max<Cycle>(1, op.window > 0 ? op.window : op.latency);
  }
  shape.length = std::min(shape.length, kMaxWindows * ii);
  return shape;
}

/// Do two arcs on the circle of circumference `ii` meet? Lengths are in [1, ii].
bool arcs_meet(Cycle a, Cycle a_length, Cycle b, Cycle b_length, Cycle ii) {
  return modulo(b - a, ii) < a_length || modulo(a - b, ii) < b_length;
}

/// First-fit over the ops of one row, earliest slot first.
int choose_lanes(std::vector<Shape>& shapes, std::vector<std::size_t> ops, Cycle ii) {
  std::sort(ops.begin(), ops.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(modulo(shapes[a].begin, ii), a) < std::pair(modulo(shapes[b].begin, ii), b);
  });
  std::vector<std::vector<std::size_t>> lanes;
  for (const std::size_t v : ops) {
    Shape& shape = shapes[v];
    if (shape.length > ii) {
      shape.copies = static_cast<int>((shape.length + ii - 1) / ii + 1);
      shape.lane = static_cast<int>(lanes.size());
      for (int copy = 0; copy < shape.copies; ++copy) lanes.push_back({v});
      continue;
    }
    const auto fits = [&](const std::vector<std::size_t>& lane) {
      return std::none_of(lane.begin(), lane.end(), [&](std::size_t other) {
        return shapes[other].length > ii || arcs_meet(shapes[other].begin, shapes[other].length, shape.begin, shape.length, ii);
      });
    };
    const auto lane = std::find_if(lanes.begin(), lanes.end(), fits);
    shape.lane = static_cast<int>(lane - lanes.begin());
    if (lane == lanes.end())
      lanes.push_back({v});
    else
      lane->push_back(v);
  }
  return std::max(1, static_cast<int>(lanes.size()));
}

struct Shapes {
  std::vector<Shape> loop, ends;
};

/// `ends`: prologue and epilogue, where they are drawn.
void add_rows(const Problem& problem, const Schedule& schedule, const EndOps* ends, Shapes& all_shapes, GanttModel& model) {
  auto& [shapes, end_shapes] = all_shapes;
  struct Members {
    std::vector<std::size_t> ops, ends, units;
  };
  const std::vector<ScheduleGroup>& all = ends ? ends->groups : schedule.groups;
  for (std::size_t g = 0; g < all.size(); ++g) {
    const ScheduleGroup& from = all[g];
    GanttGroup group{GroupId(g), from.role, {}, model.rows.size(), 0};
    group.detail = count_of(from.warps, "warp");
    if (from.registers > 0) group.detail += fmt::format(" · {} regs", from.registers);

    std::map<std::pair<int, UnitRole>, Members> rows;
    const auto row_of = [&](const Shape& shape) -> Members& {
      const UnitRole role = row_role(shape.role);
      Members& members = rows[{shape.use ? row_rank(role) : row_rank(UnitRole::Other) + 1, role}];
      if (shape.use) members.units.push_back(shape.use->unit.index());
      return members;
    };
    for (std::size_t v = 0; v < shapes.size(); ++v)
      if (schedule.group(OpId(v)).index() == g) row_of(shapes[v]).ops.push_back(v);
    for (std::size_t e = 0; e < end_shapes.size(); ++e)
      if (ends->ops[e].group.index() == g) row_of(end_shapes[e]).ends.push_back(e);
    for (auto& [key, members] : rows) {
      GanttRow row{GroupId(g), key.second, {}, 1};
      std::sort(members.units.begin(), members.units.end());
      members.units.erase(std::unique(members.units.begin(), members.units.end()), members.units.end());
      for (const std::size_t u : members.units) row.label += (row.label.empty() ? "" : "+") + problem.units[u].name;
      if (row.label.empty()) row.label = "issue";
      row.lanes = choose_lanes(shapes, members.ops, schedule.ii);
      for (const std::size_t v : members.ops) shapes[v].row = model.rows.size();
      for (const std::size_t e : members.ends) end_shapes[e].row = model.rows.size();
      model.rows.push_back(std::move(row));
    }
    group.rows = model.rows.size() - group.first_row;
    model.groups.push_back(std::move(group));
  }
}

GanttBar bar_of(const Problem& problem, const Schedule& schedule, OpId op, const Shape& shape, int iteration) {
  GanttBar bar;
  bar.op = op;
  bar.iteration = iteration;
  bar.row = shape.row;
  bar.label = problem.op(op).name;
  bar.mark = conflict_mark(conflict_ways(problem, op));
  bar.role = shape.role;
  const Cycle shift = iteration * schedule.ii;
  bar.begin = shape.begin + shift;
  bar.end = bar.begin + shape.length;
  bar.window_end = schedule.start(op) + shift + problem.op(op).window;
  bar.latency_end = schedule.start(op) + shift + problem.op(op).latency;
  bar.lane = shape.lane + static_cast<int>(modulo(iteration, shape.copies));
  return bar;
}

/// One window: iteration -stage of every op, folded into [0, II).
void add_steady_bars(const Problem& problem, const Schedule& schedule, const std::vector<Shape>& shapes, GanttModel& model) {
  const Cycle ii = schedule.ii;
  model.begin = 0;
  model.end = ii;
  for (std::size_t v = 0; v < shapes.size(); ++v) {
    const OpId op(v);
    const Cycle stage = floor_div(schedule.start(op), ii);
    GanttBar whole = bar_of(problem, schedule, op, shapes[v], static_cast<int>(-stage));
    const Cycle into = floor_div(whole.begin, ii) * ii;  // an offset may push the bar past the window of its start
    whole.lane = shapes[v].lane;
    for (Cycle* position : {&whole.begin, &whole.end, &whole.window_end, &whole.latency_end}) *position -= into;
    for (int piece = 0;; ++piece) {
      GanttBar bar = whole;
      bar.wraps_left = piece > 0;
      bar.wraps_right = whole.end > ii;
      bar.end = std::min(whole.end, ii);
      if (shapes[v].copies > 1) bar.lane += piece;
      model.bars.push_back(bar);
      if (!bar.wraps_right) break;
      whole.begin = 0;
      for (Cycle* position : {&whole.end, &whole.window_end, &whole.latency_end}) *position -= ii;
    }
  }
}

void add_run_bars(const Problem& problem, const Schedule& schedule, const std::vector<Shape>& shapes, int iterations, GanttModel& model) {
  model.bars.reserve(shapes.size() * static_cast<std::size_t>(iterations));
  for (int i = 0; i < iterations; ++i)
    for (std::size_t v = 0; v < shapes.size(); ++v) model.bars.push_back(bar_of(problem, schedule, OpId(v), shapes[v], i));
  model.begin = 0;
  model.end = schedule.ii * iterations;
  for (const GanttBar& bar : model.bars) {
    model.begin = std::min(model.begin, bar.begin);
    model.end = std::max({model.end, bar.end, bar.window_end, bar.latency_end});
  }
}

/// Each in the first lane of its row where nothing is at that time.
void add_end_bars(const EndOps& ends, const std::vector<Shape>& shapes, Cycle last_iteration, GanttModel& model) {
  for (std::size_t e = 0; e < shapes.size(); ++e) {
    const EndOp& end = ends.ops[e];
    const Op& op = ends.problem.op(end.op);
    const Shape& shape = shapes[e];
    GanttEndBar bar;
    bar.end = e;
    bar.prologue = end.section == CtaSection::Prologue;
    bar.row = shape.row;
    const Cycle shift = bar.prologue ? 0 : last_iteration, start = end.start + shift;
    bar.begin = shape.begin + shift;
    bar.end_at = bar.begin + shape.length;
    bar.window_end = start + op.window;
    bar.latency_end = start + op.latency;
    bar.label = op.name;
    bar.kind = op.kind;
    bar.role = shape.role;
    const auto taken = [&](const auto& other, Cycle other_end) {
      return other.row == bar.row && other.lane == bar.lane && other.begin < bar.end_at && bar.begin < other_end;
    };
    const auto meets = [&] {
      return std::any_of(model.bars.begin(), model.bars.end(), [&](const GanttBar& b) { return taken(b, b.end); }) ||
             std::any_of(model.ends.begin(), model.ends.end(), [&](const GanttEndBar& b) { return taken(b, b.end_at); });
    };
    while (meets()) ++bar.lane;
    model.rows[bar.row].lanes = std::max(model.rows[bar.row].lanes, bar.lane + 1);
    model.begin = std::min(model.begin, std::min(start, bar.begin));
    model.end = std::max({model.end, bar.end_at, bar.window_end, bar.latency_end});
    model.ends.push_back(std::move(bar));
  }
  std::sort(model.ends.begin(), model.ends.end(), [](const GanttEndBar& a, const GanttEndBar& b) {
    return std::tie(a.row, a.lane, a.begin, a.end) < std::tie(b.row, b.lane, b.begin, b.end);
  });
}

/// An arrow leaves the last piece of its producer and enters the first piece of its consumer.
void add_arrows(const Problem& problem, const Schedule& schedule, int iterations, GanttModel& model) {
  const bool steady = model.mode == GanttMode::Steady;
  const std::size_t copies = steady ? 1 : static_cast<std::size_t>(iterations), ops = problem.ops.size();
  std::vector<std::size_t> first(copies * ops), last(copies * ops);
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    const std::size_t at = (steady ? 0 : static_cast<std::size_t>(bar.iteration)) * ops + bar.op.index();
    if (!bar.wraps_left) first[at] = b;
    if (!bar.wraps_right) last[at] = b;
  }
  for (std::size_t i = 0; i < copies; ++i) {
    for (std::size_t e = 0; e < problem.edges.size(); ++e) {
      const Edge& edge = problem.edges[e];
      const std::size_t reader = steady ? 0 : i + static_cast<std::size_t>(edge.distance);
      if (reader >= copies) continue;
      model.arrows.push_back({EdgeId(e), last[i * ops + edge.from.index()], first[reader * ops + edge.to.index()],
                              schedule.group(edge.from) != schedule.group(edge.to), edge.distance > 0});
    }
  }
}

std::string iteration_name(Cycle k) { return k == 0 ? "iteration k" : fmt::format("iteration k+{}", k); }

void add_marks(const Schedule& schedule, int iterations, GanttModel& model) {
  if (model.mode == GanttMode::Steady) {
    model.marks = {{0, "II window · iteration k", true}, {schedule.ii, "iteration k+1", true}};
    return;
  }
  const bool pipeline = model.mode == GanttMode::Pipeline;
  for (Cycle k = 0; k <= iterations; ++k)
    model.marks.push_back({k * schedule.ii,
                           k == iterations ? std::string{}
                           : pipeline      ? fmt::format("iteration {}", k)
                                           : iteration_name(k),
                           true});
  if (!pipeline) return;
  // A phase ends where the next one begins.
  const Cycle fill = std::max(0, stage_count(schedule) - 1), drain = iterations * schedule.ii;
  Cycle epilogue = model.end;
  for (const GanttEndBar& bar : model.ends)
    if (!bar.prologue) epilogue = std::min(epilogue, bar.begin);
  if (model.begin < 0) model.marks.push_back({model.begin, "prologue", false});
  if (fill > 0) model.marks.push_back({0, "fill", false});
  if (fill < iterations) model.marks.push_back({fill * schedule.ii, "steady state", false});
  if (fill > 0 && drain < epilogue) model.marks.push_back({drain, "drain", false});
  if (epilogue < model.end) model.marks.push_back({std::max(epilogue, fill * schedule.ii + 1), "epilogue", false});
}

}  // namespace

const char* to_string(GanttMode mode) {
  switch (mode) {
    case GanttMode::Steady: return "steady";
    case GanttMode::Unrolled: return "unrolled";
    case GanttMode::Pipeline: return "pipeline";
    case GanttMode::Contended: return "contended";
  }
  return "steady";
}

const UnitUse* primary_use(const Problem& problem, const Op& op) {
  const UnitUse* best = nullptr;
  const auto better = [&](const UnitUse& a, const UnitUse& b) {
    const UnitRole ra = problem.unit(a.unit).role, rb = problem.unit(b.unit).role;
    if (is_port(ra) != is_port(rb)) return !is_port(ra);
    if (a.duration != b.duration) return a.duration > b.duration;
    return ra < rb;
  };
  for (const UnitUse& use : op.uses)
    if (use.duration > 0 && use.amount > 0 && (!best || better(use, *best))) best = &use;
  return best;
}

GanttModel build_gantt(const Problem& problem, const Schedule& schedule, const GanttOptions& options) {
  HEDDLE_ASSERT(schedule.ops.size() == problem.ops.size(), "a timeline needs one placement per op");
  HEDDLE_ASSERT(schedule.ii >= 1, "a timeline needs a positive II");
  if (options.mode == GanttMode::Contended) return build_contended_gantt(problem, schedule, options);
  GanttModel model;
  model.mode = options.mode;
  model.ii = schedule.ii;
  const int iterations = std::max(1, options.iterations);

  Shapes all;
  auto& [shapes, end_shapes] = all;
  shapes.reserve(problem.ops.size());
  for (std::size_t v = 0; v < problem.ops.size(); ++v) shapes.push_back(shape_of(problem, OpId(v), schedule.start(OpId(v)), schedule.ii));
  const EndOps* ends = model.mode == GanttMode::Pipeline && options.ends && !options.ends->empty() ? options.ends : nullptr;
  if (ends)
    for (const EndOp& end : ends->ops) end_shapes.push_back(shape_of(ends->problem, end.op, end.start, schedule.ii));
  add_rows(problem, schedule, ends, all, model);

  if (model.mode == GanttMode::Steady)
    add_steady_bars(problem, schedule, shapes, model);
  else
    add_run_bars(problem, schedule, shapes, iterations, model);
  if (ends) add_end_bars(*ends, end_shapes, (iterations - 1) * schedule.ii, model);
  std::sort(model.bars.begin(), model.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.row, a.lane, a.begin, a.op) < std::tie(b.row, b.lane, b.begin, b.op);
  });
  add_arrows(problem, schedule, iterations, model);
  add_marks(schedule, iterations, model);
  add_facts(problem, schedule, options, model);
  return model;
}

}  // namespace heddle

// The loop's edges come from the event graph; costs, groups and edges of the rest from the kernel file.
#include "core/simulate/cta_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/analysis/stream_order.h"
#include "core/analysis/turns.h"
#include "core/base/saturate.h"
#include "core/layout/plan.h"
#include "core/problem/changes.h"
#include "core/problem/costs.h"
#include "core/problem/single_rows.h"
#include "core/problem/storage.h"
#include "core/simulate/pace.h"
#include "core/simulate/tally.h"

namespace heddle {
namespace {

using Kind = CtaEdge::Kind;
using Index = std::uint32_t;

/// Edges by the op that waits, until they are laid out flat.
struct Draft {
  CtaProgram& program;
  std::vector<std::vector<CtaEdge>> to;

  void add(CtaEdge edge, EventEdge event) {
    edge.from = static_cast<Index>(event.from.index());
    edge.weight = event.weight;
    edge.event = static_cast<Index>(program.events.size());
    if (to.size() <= event.to.index()) to.resize(event.to.index() + 1);
    to[event.to.index()].push_back(edge);
    program.events.push_back(std::move(event));
  }

  void lay_out() {
    to.resize(program.problem.ops.size());
    for (const auto& edges : to) {
      program.first.push_back(static_cast<Index>(program.edges.size()));
      program.edges.insert(program.edges.end(), edges.begin(), edges.end());
    }
    program.first.push_back(static_cast<Index>(program.edges.size()));
    for (std::size_t v = 0; v < program.problem.ops.size(); ++v) {
      program.unit_event.push_back(static_cast<Index>(program.events.size()));
      for (const UnitUse& use : program.problem.ops[v].uses) {
        if (use.duration <= 0 || use.amount <= 0) continue;
        EventEdge event;
        event.kind = EventEdge::Kind::Unit;
        event.to = OpId(v);
        event.what = program.problem.unit(use.unit).name;
        program.events.push_back(std::move(event));
      }
    }
  }
};

void add_loop(Draft& draft, const SimulateOptions& options) {
  CtaProgram& program = draft.program;
  const Problem& problem = program.problem;
  const Schedule& schedule = program.schedule;
  std::set<std::string> kept;  // units whose order barriers keep
  if (options.arbitration == Arbitration::Interleaved && options.turns)
    for (const Turns& turns : kept_turns(problem, schedule)) kept.insert(problem.unit(turns.unit).name);
  for (EventEdge& event : event_graph(problem, schedule)) {
    CtaEdge edge;
    edge.tokens = event.tokens;
    edge.late = event.kind == EventEdge::Kind::Data;
    if (event.kind == EventEdge::Kind::Stream) continue;
    if (event.from == event.to && event.tokens == 0 && event.weight <= 0) continue;  // reads the very slot that it refills
    if (event.kind == EventEdge::Kind::Unit && options.arbitration != Arbitration::Scheduled && !kept.contains(event.what)) continue;
    if (event.kind == EventEdge::Kind::Unit && options.arbitration == Arbitration::Interleaved &&
        schedule.group(event.from) != schedule.group(event.to))
      event.weight += options.turn_cost;
    if (event.kind == EventEdge::Kind::Credit) {
      edge.kind = Kind::Credit;
      edge.distance = static_cast<std::int32_t>(schedule.depth(event.channel) - event.tokens);
      edge.late = problem.op(event.from).asynchronous;
    }
    draft.add(edge, std::move(event));
  }
  const auto rank = tie_ranks(problem, schedule);
  program.streams.resize(schedule.groups.size());
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    program.streams[schedule.ops[v].group.index()].loop.push_back({static_cast<Index>(v), schedule.ops[v].start / schedule.ii});
  for (CtaStream& stream : program.streams) {
    if (stream.loop.empty()) continue;
    std::sort(stream.loop.begin(), stream.loop.end(), [&](const auto& a, const auto& b) {
      return std::tuple(schedule.slot(OpId(a.op)), rank[a.op], a.op) < std::tuple(schedule.slot(OpId(b.op)), rank[b.op], b.op);
    });
    std::int64_t least = stream.loop.front().stage, most = least;
    for (const auto& op : stream.loop) least = std::min(least, op.stage), most = std::max(most, op.stage);
    for (auto& op : stream.loop) op.stage -= least;
    stream.stages = most - least + 1;
  }
  program.sections.assign(problem.ops.size(), CtaSection::Loop);
}

class KernelBuilder {
 public:
  KernelBuilder(const InstanceSpec& spec, CtaProgram& program)
      : kernel_(*spec.kernel),
        machine_(*spec.machine),
        numbers_(spec.changes, kernel_, machine_, faults_),
        program_(program),
        problem_(program.problem),
        schedule_(program.schedule),
        loop_ops_(problem_.ops.size()),
        draft_{program, {}} {
    if (const auto signal = faults_.number(machine_.handoff.signal, {}, {0, kAbsurd}, {}, "hand-off signal"))
      signal_ = numbers_.signal(*signal);
    for (std::size_t v = 0; v < problem_.values.size(); ++v) body_[problem_.values[v].name] = ValueId(v);
  }

  void run(const SimulateOptions& options) {
    paced_ = options.arbitration == Arbitration::Interleaved;
    add_loop(draft_, options);
    define(kernel_.prologue, CtaSection::Prologue, prologue_);
    define(kernel_.epilogue, CtaSection::Epilogue, epilogue_);
    place_prologue();
    place_epilogue();
    add_inputs();
    add_reuse();
    draft_.lay_out();
  }

 private:
  using Defined = std::map<std::string, ValueId, std::less<>>;
  const TileOp& tile_op(OpId op) const {
    const std::size_t i = op.index();
    if (i < loop_ops_) return kernel_.body[i];
    const std::size_t after = i - loop_ops_;
    return after < kernel_.prologue.size() ? kernel_.prologue[after] : kernel_.epilogue[after - kernel_.prologue.size()];
  }
  OpId prologue_op(std::size_t i) const { return OpId(loop_ops_ + i); }
  OpId epilogue_op(std::size_t i) const { return OpId(loop_ops_ + kernel_.prologue.size() + i); }
  static ValueId find(const Defined& in, const std::string& name) {
    const auto found = in.find(name);
    return found == in.end() ? ValueId{} : found->second;
  }
  GroupId group(OpId op) const { return schedule_.group(op); }

  Tile tile(const std::string& name) {
    const TileValue* value = kernel_.find_value(name);
    return value ? measure(*value, problem_.params, {}, faults_).value_or(Tile{}) : Tile{};
  }

  void define(const std::vector<TileOp>& ops, CtaSection section, Defined& defined) {
    for (const TileOp& op : ops) {
      std::vector<Tile> tiles;
      for (const Operand& in : op.inputs) tiles.push_back(tile(in.value));
      for (const std::string& out : op.outputs) tiles.push_back(tile(out));
      std::vector<const Tile*> inputs, outputs;
      for (std::size_t i = 0; i < tiles.size(); ++i) (i < op.inputs.size() ? inputs : outputs).push_back(&tiles[i]);
      FaultLog faults;
      const OpPlan* plan = problem_.layouts ? problem_.layouts->find(op.name) : nullptr;
      Op cost = cost_of({op, inputs, outputs, {}, plan, single_rows(kernel_, op, problem_.params)}, machine_, problem_.params, faults);
      if (faults.empty()) {
        numbers_.apply(cost, op.cost ? &*op.cost : nullptr, machine_.units);
        if (paced_) pace(cost, machine_.units, machine_.streams);
      } else {
        cost = Op{};
        cost.name = op.name;
        cost.kind = op.kind;
        program_.free_ops.push_back(op.name);
      }
      const OpId id(problem_.ops.size());
      problem_.ops.push_back(std::move(cost));
      program_.sections.push_back(section);
      schedule_.ops.push_back({0, GroupId(0)});
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        const TileValue* value = kernel_.find_value(op.outputs[i]);
        defined[op.outputs[i]] = ValueId(problem_.values.size());
        problem_.values.push_back({op.outputs[i], value ? value->space : Space::Register, id, outputs[i]->bytes, 0});
      }
    }
  }

  /// The group if it has the warps that the op needs, else one that is there for that.
  GroupId wide_enough(GroupId wanted, const Op& op) {
    if (schedule_.groups[wanted.index()].warps >= op.warps) return wanted;
    if (!extra_.valid()) {
      extra_ = GroupId(schedule_.groups.size());
      schedule_.groups.push_back({"epilogue", op.warps, 0});
      program_.streams.emplace_back();
    }
    ScheduleGroup& extra = schedule_.groups[extra_.index()];
    extra.warps = std::max(extra.warps, op.warps);
    return extra_;
  }

  bool reads(const TileOp& op, const std::string& value) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == value; });
  }

  void place_prologue() {
    for (std::size_t i = kernel_.prologue.size(); i-- > 0;) {
      const OpId id = prologue_op(i);
      const Op& op = problem_.op(id);
      GroupId wanted(0);
      if (!(op.variable_latency && problem_.has_producer_group()))
        for (const std::string& out : kernel_.prologue[i].outputs) {
          const OpId heir = body_.contains(out) ? problem_.value(body_.at(out)).producer : first_reader(out, i);
          if (heir.valid()) wanted = group(heir);
        }
      schedule_.ops[id.index()].group = wide_enough(wanted, op);
      auto& stream = program_.streams[group(id).index()].prologue;
      stream.insert(stream.begin(), static_cast<Index>(id.index()));
    }
  }

  OpId first_reader(const std::string& value, std::size_t after) const {
    for (std::size_t v = 0; v < kernel_.body.size(); ++v)
      if (reads(kernel_.body[v], value)) return OpId(v);
    for (std::size_t p = after + 1; p < kernel_.prologue.size(); ++p)
      if (reads(kernel_.prologue[p], value)) return prologue_op(p);
    return {};
  }

  void place_epilogue() {
    for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) {
      const OpId id = epilogue_op(i);
      const Op& op = problem_.op(id);
      const bool loads = op.variable_latency && problem_.has_producer_group();
      const GroupId wanted = loads ? GroupId(0) : epilogue_group(i).value_or(GroupId(0));
      schedule_.ops[id.index()].group = wide_enough(wanted, op);
      program_.streams[group(id).index()].epilogue.push_back(static_cast<Index>(id.index()));
    }
  }

  /// Where its first input comes from; of an op that reads nothing made before it, where its result is read.
  std::optional<GroupId> epilogue_group(std::size_t i) const {
    for (const Operand& in : kernel_.epilogue[i].inputs) {
      const ValueId value = source(in.value);
      if (value.valid() && problem_.value(value).producer.index() < epilogue_op(i).index()) return group(problem_.value(value).producer);
    }
    for (std::size_t reader = i + 1; reader < kernel_.epilogue.size(); ++reader)
      for (const std::string& out : kernel_.epilogue[i].outputs)
        if (reads(kernel_.epilogue[reader], out))
          for (const Operand& in : kernel_.epilogue[reader].inputs)
            if (const ValueId value = source(in.value); value.valid() && problem_.value(value).producer.index() < epilogue_op(i).index())
              return group(problem_.value(value).producer);
    return std::nullopt;
  }

  /// What the epilogue reads under this name.
  ValueId source(const std::string& name) const {
    for (const Defined* defined : {&epilogue_, &body_, &prologue_})
      if (const ValueId value = find(*defined, name); value.valid()) return value;
    return {};
  }

  Cycle handoff(const Value& value, OpId to) {
    if (group(value.producer) == group(to)) return 0;
    if (value.space != Space::Register) return completes_on_barrier(problem_, value.producer) ? 0 : signal_;
    const auto copy =
        faults_.number(machine_.handoff.register_copy, hand_over_names(machine_, problem_, value), {0, kAbsurd}, {}, "hand-off");
    return numbers_.register_copy(copy.value_or(0));
  }

  void add_input(Kind kind, ValueId value, OpId to, std::int64_t tokens = 0) {
    const Value& v = problem_.value(value);
    EventEdge event;
    event.from = v.producer;
    event.to = to;
    event.weight = problem_.op(v.producer).latency + handoff(v, to);
    event.what = v.name;
    event.edge = EdgeId(problem_.edges.size());
    problem_.edges.push_back({v.producer, to, value, problem_.op(v.producer).latency, 0, 0, false, 0});
    CtaEdge edge;
    edge.kind = kind;
    edge.tokens = tokens;
    edge.late = true;
    draft_.add(edge, std::move(event));
  }

  void add_inputs() {
    for (std::size_t p = 0; p < kernel_.prologue.size(); ++p)
      for (const Operand& in : kernel_.prologue[p].inputs)
        if (const ValueId value = find(prologue_, in.value); value.valid() && problem_.value(value).producer != prologue_op(p))
          add_input(Kind::Same, value, prologue_op(p));
    for (std::size_t v = 0; v < kernel_.body.size(); ++v)
      for (const Operand& in : kernel_.body[v].inputs) {
        const ValueId value = find(prologue_, in.value);
        if (!value.valid()) continue;
        const bool carried = body_.contains(in.value);
        if (!carried || in.distance > 0) add_input(Kind::First, value, OpId(v), carried ? in.distance : 1);
      }
    for (std::size_t e = 0; e < kernel_.epilogue.size(); ++e)
      for (const Operand& in : kernel_.epilogue[e].inputs) {
        const ValueId value = source(in.value);
        if (!value.valid() || problem_.value(value).producer == epilogue_op(e)) continue;
        const bool in_loop = problem_.value(value).producer.index() < loop_ops_;
        add_input(in_loop ? Kind::Last : Kind::Same, value, epilogue_op(e));
      }
  }

  void add_release(Kind kind, OpId reader, OpId writer, std::int64_t tokens, const std::string& what) {
    const Op& op = problem_.op(reader);
    EventEdge event;
    event.kind = EventEdge::Kind::Credit;
    event.from = reader;
    event.to = writer;
    event.weight = (op.asynchronous ? op.latency : op.window) + (group(reader) == group(writer) ? 0 : signal_);
    event.what = what;
    CtaEdge edge;
    edge.kind = kind;
    edge.tokens = tokens;
    edge.late = op.asynchronous;
    draft_.add(edge, std::move(event));
  }

  /// Shared and tensor memory that the next tile uses again.
  void add_reuse() {
    const std::size_t ops = problem_.ops.size();
    for (std::size_t w = loop_ops_; w < ops; ++w)
      for (const std::string& out : tile_op(OpId(w)).outputs) {
        const TileValue* value = kernel_.find_value(out);
        if (!value || (value->space != Space::Smem && value->space != Space::Tmem)) continue;
        for (std::size_t r = 0; r < ops; ++r)
          if (r != w && reads(tile_op(OpId(r)), out)) add_release(Kind::Before, OpId(r), OpId(w), 0, out + " of the tile before");
      }
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (channel.only_if_crossing || schedule_.depths[c] < 1) continue;
      for (const ValueId v : channel.values)
        for (std::size_t e = 0; e < kernel_.epilogue.size(); ++e)
          if (reads(kernel_.epilogue[e], problem_.value(v).name))
            add_release(Kind::Slot, epilogue_op(e), channel.writer, schedule_.depths[c],
                        fmt::format("ring {} (depth {})", channel.name, schedule_.depths[c]));
    }
  }

  const Kernel& kernel_;
  Machine machine_;
  FaultLog faults_;
  const ChangedNumbers numbers_;
  CtaProgram& program_;
  Problem& problem_;
  Schedule& schedule_;
  const std::size_t loop_ops_;
  Draft draft_;
  Cycle signal_ = 0;
  bool paced_ = false;
  Defined prologue_, body_, epilogue_;
  GroupId extra_;
};

}  // namespace

CtaProgram loop_program(const Problem& problem, const Schedule& schedule, const SimulateOptions& options) {
  CtaProgram program;
  program.problem = problem;
  program.schedule = schedule;
  Draft draft{program, {}};
  add_loop(draft, options);
  draft.lay_out();
  return program;
}

CtaProgram kernel_program(const InstanceSpec& spec, const Problem& problem, const Schedule& schedule, const SimulateOptions& options) {
  CtaProgram program;
  program.problem = problem;
  program.schedule = schedule;
  KernelBuilder(spec, program).run(options);
  return program;
}

}  // namespace heddle

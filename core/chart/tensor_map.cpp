// A value is there from its producer's start on. Reads end as a ring's do; where a product goes on in the same columns, its result takes
// over from what it adds to.
#include "core/chart/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"

namespace heddle {
namespace {

using State = BarrierSpan::State;

constexpr int kMostLives = 4096;  ///< of a value, as in lanes of barriers

class MapBuilder {
 public:
  MapBuilder(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const BarrierRange& range)
      : kernel_(kernel), problem_(problem), schedule_(schedule), range_(range) {}

  std::vector<BarrierLane> run() {
    // A graph that has only numbers says nothing of columns.
    for (const Value& value : problem_.values)
      if (value.space == Space::Tmem && !kernel_.find_value(value.name)) return {};
    std::map<std::string, std::vector<ValueId>> residents;
    std::vector<bool> in_ring(problem_.values.size());
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (channel.space != Space::Tmem) continue;
      for (const ValueId v : channel.values) in_ring[v.index()] = true;
      if (schedule_.depths[c] > 0) add(channel.name, static_cast<int>(channel.size), schedule_.depths[c], channel.values);
    }
    for (std::size_t v = 0; v < problem_.values.size(); ++v)
      if (problem_.values[v].space == Space::Tmem && !in_ring[v]) residents[root_of(problem_.values[v].name).name].push_back(ValueId(v));
    for (const TileValue& value : kernel_.values)
      if (const auto found = residents.find(value.name); found != residents.end()) add(value.name, width_of(value), 1, found->second);
    return std::move(lanes_);
  }

 private:
  /// The kernel is resolved: aliases end somewhere, extents and places are numbers.
  const TileValue& root_of(const std::string& name) const {
    const TileValue* at = kernel_.find_value(name);
    while (!at->alias_of.empty()) at = kernel_.find_value(at->alias_of);
    return *at;
  }
  int width_of(const TileValue& value) const {
    FaultLog faults;
    const auto tile = measure(value, problem_.params, {}, faults);
    return tile ? static_cast<int>(tile->columns) : 0;
  }
  int first_of(const std::string& name) const {
    std::int64_t first = 0;
    for (const TileValue* at = kernel_.find_value(name); !at->alias_of.empty(); at = kernel_.find_value(at->alias_of))
      first += at->alias_at.evaluate(problem_.params).value();
    return static_cast<int>(first);
  }
  UnitRole role_of(OpId op) const {
    const Op& of = problem_.op(op);
    return of.uses.empty() ? UnitRole::Other : problem_.unit(of.uses.front().unit).role;
  }

  void add(const std::string& name, int columns, int slots, const std::vector<ValueId>& values) {
    BarrierLane lane;
    lane.kind = BarrierLane::Kind::Tensor;
    lane.label = name;
    lane.detail = fmt::format("columns {} to {}", next_, next_ + columns * slots - 1);
    lane.role = role_of(problem_.value(values.front()).producer);
    lane.slots = slots;
    lane.first_column = next_;
    lane.columns = columns;
    next_ += columns * slots;
    for (const ValueId value : values) add_value(lane, value);
    std::sort(lane.spans.begin(), lane.spans.end(),
              [](const BarrierSpan& a, const BarrierSpan& b) { return std::tie(a.slot, a.begin) < std::tie(b.slot, b.begin); });
    lanes_.push_back(std::move(lane));
  }

  /// Whether the op leaves its result where the value is.
  bool in_place(OpId op, ValueId value) const {
    const TileValue& root = root_of(problem_.value(value).name);
    return problem_.op(op).asynchronous && std::any_of(problem_.values.begin(), problem_.values.end(), [&](const Value& result) {
             return result.producer == op && result.space == Space::Tmem && &root_of(result.name) == &root;
           });
  }

  void add_value(BarrierLane& lane, ValueId value) const {
    const OpId writer = problem_.value(value).producer;
    const Cycle begin = schedule_.start(writer), there = sat_add(begin, problem_.op(writer).latency);
    Cycle end = there, read = 0;
    OpId reader;
    for (const Edge& edge : problem_.edges) {
      if (edge.value != value) continue;
      const Op& op = problem_.op(edge.to);
      const Cycle at = sat_add(schedule_.start(edge.to), sat_mul(edge.distance, schedule_.ii));
      if (in_place(edge.to, value)) {
        // A product that adds to it may start before its own operand is complete: the unit keeps their order.
        end = reader.valid() ? std::max(end, at) : at;
        continue;
      }
      const bool until_there = op.asynchronous || op.kind.starts_with("tmem_load");
      end = std::max(end, sat_add(at, until_there ? op.latency : op.window));
      if (!reader.valid() || at < read) read = at, reader = edge.to;
    }
    end = std::max(end, begin);
    const Cycle full = std::clamp(there, begin, end);
    read = reader.valid() ? std::clamp(read, full, end) : end;
    const Cycle ii = schedule_.ii;
    std::int64_t first = floor_div(sat_add(range_.begin, -end), ii), last = ceil_div(sat_add(range_.end, -begin), ii);
    if (range_.iterations) first = std::max<std::int64_t>(first, 0), last = std::min<std::int64_t>(last, *range_.iterations - 1);
    last = std::min(last, first + kMostLives);
    const TileValue& tile = *kernel_.find_value(problem_.value(value).name);
    for (std::int64_t i = first; i <= last; ++i) {
      BarrierSpan span;
      span.value = value;
      span.name = tile.name;
      span.role = role_of(writer);
      span.iteration = static_cast<int>(i);
      span.slot = static_cast<int>(modulo(i, lane.slots));
      span.first_column = first_of(tile.name);
      span.columns = width_of(tile);
      const auto put = [&](State state, Cycle from, Cycle to, OpId op) {
        span.state = state;
        span.op = op;
        span.group = schedule_.group(op);
        span.begin = std::max(sat_add(from, sat_mul(i, ii)), range_.begin);
        span.end = std::min(sat_add(to, sat_mul(i, ii)), range_.end);
        if (span.begin < span.end) lane.spans.push_back(span);
      };
      put(State::Filling, begin, full, writer);
      put(State::Full, full, read, writer);
      put(State::Read, read, end, reader.valid() ? reader : writer);
    }
  }

  const Kernel& kernel_;
  const Problem& problem_;
  const Schedule& schedule_;
  const BarrierRange& range_;
  int next_ = 0;
  std::vector<BarrierLane> lanes_;
};

}  // namespace

std::vector<BarrierLane> tensor_map(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const BarrierRange& range) {
  return MapBuilder(kernel, problem, schedule, range).run();
}

}  // namespace heddle

// heddle.traffic/1: the answer of `heddle traffic` as a list of members, and the records of its CSV as another.
#include "core/answers/answer_members.h"
#include "core/answers/csv_members.h"
#include "core/answers/traffic.h"
#include "core/base/words.h"

namespace heddle {
namespace {

constexpr const char* kTrafficSchema = "heddle.traffic/1";

struct TrafficAnswer {
  const Problem& problem = blank<Problem>;
  const std::vector<Traffic>& all = blank<std::vector<Traffic>>;
};

struct RingLine {
  const Problem& problem = blank<Problem>;
  const RingTokens& ring = blank<RingTokens>;
  const RingTraffic* seen = nullptr;
};

struct MeasuredLine {
  Cycle from = 0, to = 0;
  bool steady = false;
};

struct Occupancy {
  const Problem& problem = blank<Problem>;
  const RingFill& fill = blank<RingFill>;
};

struct RingRecord {
  std::string schedule{};
  RingLine line{};
};

std::vector<RingLine> ring_lines(const Problem& problem, const Traffic& traffic) {
  std::vector<RingLine> lines;
  for (const RingTokens& ring : traffic.tokens.rings) {
    const RingTraffic* found = nullptr;
    for (const RingTraffic& seen : traffic.rings)
      if (seen.tokens.channel == ring.channel) found = &seen;
    lines.push_back({problem, ring, found});
  }
  return lines;
}

/// [[0, 1], [30, 2]]: cycles, and what it is from there on.
struct Curve {
  Json write(const UsageCurve& curve) const {
    Json steps = Json::array();
    for (const UsageStep& step : curve) steps.push(Json::array().push(step.at).push(step.value));
    return steps;
  }
  Json schema(const UsageCurve&, Json&) const { return schema::list(schema::list(schema::count())); }
};

template <class Io, class Tokens>
void visit_tokens(Io& io, const Tokens& tokens) {
  io.written("entries", tokens.entries, "per iteration, as the next three");
  io.written("bytes", tokens.bytes), io.written("full_arrivals", tokens.full_arrivals), io.written("empty_arrivals", tokens.empty_arrivals);
}

template <class Io>
void visit(Io& io, const MeasuredLine& line) {
  io.written("from", line.from), io.written("to", line.to), io.written("steady", line.steady);
}

}  // namespace

template <class Io>
void visit(Io& io, const as::InContext<RingWait, Problem>& in) {
  io.part("wait", "an op stands and waits for the ring, cycles of a tile");
  io.written("begin", in.part.begin), io.written("end", in.part.end), io.written("op", in.part.at, as::NameIn{in.context});
  io.written("iteration", in.part.iteration);
}

namespace {

template <class Io>
void visit(Io& io, const Occupancy& of) {
  io.part("occupancy", "pairs of cycle and slots from there on; what is taken is filled or being filled");
  io.written("taken", of.fill.taken, Curve{}), io.written("filled", of.fill.filled, Curve{});
  io.written("starving", of.fill.starving, as::list(as::part_in(of.problem)));
  io.written("full", of.fill.full, as::list(as::part_in(of.problem)));
}

template <class Io>
void visit(Io& io, const RingLine& line) {
  const bool there = line.seen != nullptr;
  const RingTraffic& seen = there ? *line.seen : blank<RingTraffic>;
  io.part("ring");
  io.written("id", line.ring.channel, as::NameIn{line.problem});
  io.written("space", [&] { return to_string(line.problem.channel(line.ring.channel).space); });
  io.written("from", line.ring.writer, as::group_index);
  io.written("to", line.ring.readers, as::list(as::group_index), "warp groups that read it");
  io.written("slots", line.ring.depth), io.written("slot_bytes", line.ring.slot_bytes), io.written("ring_bytes", line.ring.held());
  visit_tokens(io, line.ring);
  io.written_if(there, "access", seen.access, "the producer fills it");
  io.written_if(there, "mean_taken", seen.taken, as::real), io.written_if(there, "mean_filled", seen.filled, as::real);
  io.written_if(there, "starving", seen.starving, as::part_of_all, "of the time measured, predicted");
  io.written_if(there, "full", seen.full, as::part_of_all), io.written_if(there, "occupancy", Occupancy{line.problem, seen.fill});
}

template <class Io>
void visit(Io& io, const RingRecord& record) {
  const RingTokens& ring = record.line.ring;
  const bool there = record.line.seen != nullptr;
  const RingTraffic& seen = there ? *record.line.seen : blank<RingTraffic>;
  const auto channel = [&]() -> const Channel& { return record.line.problem.channel(ring.channel); };
  std::string readers;
  for (const GroupId group : ring.readers) readers += (readers.empty() ? "" : " ") + std::to_string(group.index());
  io.written("schedule", record.schedule), io.written("ring", [&] { return channel().name; });
  io.written("space", [&] { return to_string(channel().space); }), io.written("from", ring.writer, as::group_index);
  io.written("to", readers), io.written("slots", ring.depth), io.written("slot_bytes", ring.slot_bytes);
  io.written("ring_bytes", ring.held()), io.written("entries_per_iteration", ring.entries);
  io.written("bytes_per_iteration", ring.bytes), io.written("full_arrivals_per_iteration", ring.full_arrivals);
  io.written("empty_arrivals_per_iteration", ring.empty_arrivals);
  io.written_if(there, "mean_taken_slots", seen.taken, as::fixed(4)), io.written_if(there, "mean_filled_slots", seen.filled, as::fixed(4));
  io.written_if(there, "starving_part", seen.starving, as::fixed(4)), io.written_if(there, "full_part", seen.full, as::fixed(4));
}

}  // namespace

template <class Io>
void visit(Io& io, const PairTokens& pair) {
  io.part("pair");
  io.written("from", pair.from, as::group_index), io.written("to", pair.to, as::group_index), io.written("rings", pair.rings);
  visit_tokens(io, pair);
}

template <class Io>
void visit(Io& io, const BalancePoint& point) {
  io.part("balance", "the busiest unit or instruction stream of each side, in [0, 1]");
  io.written("name", point.name), io.written("access", point.access, as::part_of_all), io.written("access_by", point.access_by);
  io.written("execute", point.execute, as::part_of_all), io.written("execute_by", point.execute_by);
  io.written("microseconds", point.microseconds, as::real);
  io.written("fits", point.fits, "its rings fit the memory of a CTA");
  io.written("fault", point.fault);
}

template <class Io>
void visit(Io& io, const as::InContext<LatencyFloor, Problem>& in) {
  const LatencyFloor& floor = in.part;
  io.part("latency_floor", "bytes per SM that have to be on their way so that a latency costs nothing");
  io.written("op", floor.op, as::NameIn{in.context}), io.written("latency", floor.latency);
  io.written("bytes_per_iteration", floor.bytes_per_iteration), io.written("best_period", floor.best_period, as::real);
  io.written("needed_bytes", floor.needed), io.written("held_bytes", floor.held), io.written("in_flight_bytes", floor.in_flight, as::real);
  io.written("dram_bytes", floor.dram, "that keep DRAM busy; 0: its rate is unknown");
}

template <class Io>
void visit(Io& io, const TrafficVerdict& verdict) {
  io.part("verdict");
  io.written("limit", verdict.limit, as::word("limit", TrafficLimit::Ends));
  io.written("what", verdict.what), io.written("best_us", verdict.best_us, as::real), io.written("best_why", verdict.best_why);
  io.written("allowed_us", verdict.allowed_us, as::real);
  io.written("deeper_us", verdict.deeper_us, as::real, "with rings that never are full; null: the access side fills none");
  io.written("ii_us", verdict.ii_us, as::real), io.written("sentence", verdict.sentence), io.written("predicted", true);
}

template <class Io>
void visit(Io& io, const as::InContext<Traffic, Problem>& in) {
  const Traffic& traffic = in.part;
  io.part("traffic");
  io.written("schedule", traffic.name, "its name");
  io.written("ii", traffic.ii);
  io.written("fault", traffic.fault, "why nothing is predicted; empty: all is");
  io.written("pairs", traffic.tokens.pairs), io.written("rings", ring_lines(in.context, traffic));
  io.written("iterations", traffic.iterations, "of a tile that were looked at");
  io.written("measured", MeasuredLine{traffic.from, traffic.to, traffic.steady});
  io.written("period", traffic.period, as::real, "simulated cycles an iteration");
  io.written("ctas_per_sm", traffic.ctas), io.written("latency_floor", traffic.floor, as::part_in(in.context));
  io.written("balance", traffic.balance), io.written("verdict", only_if(traffic.fault.empty(), traffic.verdict));
  io.written("trust", traffic.trust.text);
}

namespace {

template <class Io>
void visit(Io& io, const TrafficAnswer& of) {
  visit_problem(io, of.problem);
  io.written("schedules", of.all, as::list(as::part_in(of.problem)));
}

}  // namespace

std::string traffic_csv(const Problem& problem, const std::vector<Traffic>& all) {
  std::vector<RingRecord> records;
  for (const Traffic& traffic : all)
    for (const RingLine& line : ring_lines(problem, traffic)) records.push_back({traffic.name, line});
  return csv_of(records);
}

Json traffic_json(const Problem& problem, const std::vector<Traffic>& all) {
  return document_json(kTrafficSchema, TrafficAnswer{problem, all});
}

Json traffic_schema() {
  return document_schema<TrafficAnswer>(kTrafficSchema, "Heddle's rings as queues: what passes, how full they are, what limits");
}

}  // namespace heddle

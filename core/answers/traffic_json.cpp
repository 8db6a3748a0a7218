// heddle.traffic/1: the answer of `heddle traffic` as JSON, and its schema.
#include "core/answers/summary.h"
#include "core/answers/traffic.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"

namespace heddle {
namespace {

constexpr const char* kTrafficSchema = "heddle.traffic/1";

Json tokens_json(Json object, std::int64_t entries, std::int64_t bytes, std::int64_t full, std::int64_t empty) {
  return object.set("entries", entries).set("bytes", bytes).set("full_arrivals", full).set("empty_arrivals", empty);
}

Json curve_json(const UsageCurve& curve) {
  Json steps = Json::array();
  for (const Step& step : curve) steps.push(Json::array().push(step.at).push(step.value));
  return steps;
}

Json waits_json(const Problem& problem, const std::vector<RingWait>& waits) {
  Json list = Json::array();
  for (const RingWait& wait : waits)
    list.push(
        Json::object().set("begin", wait.begin).set("end", wait.end).set("op", problem.op(wait.at).name).set("iteration", wait.iteration));
  return list;
}

Json ring_json(const Problem& problem, const Traffic& traffic, const RingTokens& ring) {
  const Channel& channel = problem.channel(ring.channel);
  Json readers = Json::array();
  for (const GroupId group : ring.readers) readers.push(group.index());
  Json object = Json::object()
                    .set("id", channel.name)
                    .set("space", to_string(channel.space))
                    .set("from", ring.writer.index())
                    .set("to", std::move(readers))
                    .set("slots", ring.depth)
                    .set("slot_bytes", ring.slot_bytes)
                    .set("ring_bytes", ring.held());
  object = tokens_json(std::move(object), ring.entries, ring.bytes, ring.full_arrivals, ring.empty_arrivals);
  for (const RingTraffic& seen : traffic.rings)
    if (seen.tokens.channel == ring.channel)
      object.set("access", seen.access)
          .set("mean_taken", seen.taken)
          .set("mean_filled", seen.filled)
          .set("starving", seen.starving)
          .set("full", seen.full)
          .set("occupancy", Json::object()
                                .set("taken", curve_json(seen.fill.taken))
                                .set("filled", curve_json(seen.fill.filled))
                                .set("starving", waits_json(problem, seen.fill.starving))
                                .set("full", waits_json(problem, seen.fill.full)));
  return object;
}

Json balance_json(const BalancePoint& point) {
  return Json::object()
      .set("name", point.name)
      .set("access", point.access)
      .set("access_by", point.access_by)
      .set("execute", point.execute)
      .set("execute_by", point.execute_by)
      .set("microseconds", point.microseconds)
      .set("fits", point.fits)
      .set("fault", point.fault);
}

Json floor_json(const Problem& problem, const LatencyFloor& floor) {
  return Json::object()
      .set("op", problem.op(floor.op).name)
      .set("latency", floor.latency)
      .set("bytes_per_iteration", floor.bytes_per_iteration)
      .set("best_period", floor.best_period)
      .set("needed_bytes", floor.needed)
      .set("held_bytes", floor.held)
      .set("in_flight_bytes", floor.in_flight)
      .set("dram_bytes", floor.dram);
}

Json verdict_json(const TrafficVerdict& verdict) {
  return Json::object()
      .set("limit", to_string(verdict.limit))
      .set("what", verdict.what)
      .set("best_us", verdict.best_us)
      .set("best_why", verdict.best_why)
      .set("allowed_us", verdict.allowed_us)
      .set("deeper_us", verdict.deeper_us ? Json(*verdict.deeper_us) : Json())
      .set("ii_us", verdict.ii_us)
      .set("sentence", verdict.sentence)
      .set("predicted", true);
}

Json schedule_traffic_json(const Problem& problem, const Traffic& traffic) {
  Json pairs = Json::array(), rings = Json::array(), balance = Json::array();
  for (const PairTokens& pair : traffic.tokens.pairs)
    pairs.push(tokens_json(Json::object().set("from", pair.from.index()).set("to", pair.to.index()).set("rings", pair.rings), pair.entries,
                           pair.bytes, pair.full_arrivals, pair.empty_arrivals));
  for (const RingTokens& ring : traffic.tokens.rings) rings.push(ring_json(problem, traffic, ring));
  for (const BalancePoint& point : traffic.balance) balance.push(balance_json(point));
  const bool known = traffic.fault.empty();
  return Json::object()
      .set("schedule", traffic.name)
      .set("ii", traffic.ii)
      .set("fault", traffic.fault)
      .set("pairs", std::move(pairs))
      .set("rings", std::move(rings))
      .set("iterations", traffic.iterations)
      .set("measured", Json::object().set("from", traffic.from).set("to", traffic.to).set("steady", traffic.steady))
      .set("period", traffic.period)
      .set("ctas_per_sm", traffic.ctas)
      .set("latency_floor", traffic.floor ? floor_json(problem, *traffic.floor) : Json())
      .set("balance", std::move(balance))
      .set("verdict", known ? verdict_json(traffic.verdict) : Json())
      .set("trust", traffic.trust.text);
}

}  // namespace

Json traffic_json(const Problem& problem, const std::vector<Traffic>& all) {
  Json root = Json::object(), schedules = Json::array();
  root.set("schema", kTrafficSchema);
  set_problem(root, problem);
  for (const Traffic& traffic : all) schedules.push(schedule_traffic_json(problem, traffic));
  return root.set("schedules", std::move(schedules));
}

namespace {

schema::Object& with_tokens(schema::Object& object) {
  using namespace schema;
  return object.required("entries", count(), "per iteration, as the next three")
      .required("bytes", count())
      .required("full_arrivals", count())
      .required("empty_arrivals", count());
}

Json ring_schema(Json& shared) {
  using namespace schema;
  Object ring(shared), wait(shared), occupancy(shared);
  wait.called("wait", "an op stands and waits for the ring, cycles of a tile");
  wait.required("begin", count()).required("end", count()).required("op", name(shared)).required("iteration", count());
  const Json waits = wait.finish();
  occupancy.called("occupancy", "pairs of cycle and slots from there on; what is taken is filled or being filled");
  occupancy.required("taken", list(list(count()))).required("filled", list(list(count())));
  occupancy.required("starving", list(waits)).required("full", list(waits));
  ring.called("ring").required("id", name(shared)).required("space", words({"smem", "tmem", "register"})).required("from", count());
  ring.required("to", list(count()), "warp groups that read it").required("slots", count());
  ring.required("slot_bytes", count()).required("ring_bytes", count());
  with_tokens(ring).optional("access", type("boolean"), "the producer fills it");
  ring.optional("mean_taken", real()).optional("mean_filled", real());
  const auto part = [] { return real().set("maximum", 1); };
  ring.optional("starving", part(), "of the time measured, predicted").optional("full", part());
  return ring.optional("occupancy", occupancy.finish()).finish();
}

Json floor_schema(Json& shared) {
  using namespace schema;
  Object floor(shared);
  floor.called("latency_floor", "bytes per SM that have to be on their way so that a latency costs nothing");
  floor.required("op", name(shared)).required("latency", count()).required("bytes_per_iteration", count()).required("best_period", real());
  floor.required("needed_bytes", count()).required("held_bytes", count()).required("in_flight_bytes", real());
  return floor.required("dram_bytes", count(), "that keep DRAM busy; 0: its rate is unknown").finish();
}

Json one_schema(Json& shared) {
  using namespace schema;
  Object one(shared), pair(shared), point(shared), verdict(shared), measured(shared);
  pair.called("pair").required("from", count()).required("to", count()).required("rings", count());
  point.called("balance", "the busiest unit or instruction stream of each side, in [0, 1]");
  const auto part = [] { return real().set("maximum", 1); };
  point.required("name", type("string")).required("access", part()).required("access_by", type("string"));
  point.required("execute", part()).required("execute_by", type("string")).required("microseconds", real());
  point.required("fits", type("boolean"), "its rings fit the memory of a CTA").required("fault", type("string"));
  verdict.called("verdict").required("limit", words(words_up_to(TrafficLimit::Ends))).required("what", type("string"));
  verdict.required("best_us", real()).required("best_why", type("string")).required("allowed_us", real());
  verdict.required("deeper_us", or_null(real()), "with rings that never are full; null: the access side fills none");
  verdict.required("ii_us", real()).required("sentence", type("string")).required("predicted", type("boolean"));
  measured.required("from", count()).required("to", count()).required("steady", type("boolean"));
  one.called("traffic").required("schedule", type("string"), "its name").required("ii", count());
  one.required("fault", type("string"), "why nothing is predicted; empty: all is");
  one.required("pairs", list(with_tokens(pair).finish())).required("rings", list(ring_schema(shared)));
  one.required("iterations", count(), "of a tile that were looked at").required("measured", measured.finish());
  one.required("period", real(), "simulated cycles an iteration").required("ctas_per_sm", count());
  one.required("latency_floor", or_null(floor_schema(shared))).required("balance", list(point.finish()));
  return one.required("verdict", or_null(verdict.finish())).required("trust", type("string")).finish();
}

}  // namespace

Json traffic_schema() {
  using namespace schema;
  return schema::document(kTrafficSchema, "Heddle's rings as queues: what passes, how full they are, what limits",
                          [](schema::Object& root) {
                            Json& shared = root.definitions();
                            root.required("kernel", name(shared)).required("machine", name(shared)).optional("params", params());
                            root.optional("changes", list(type("string"))).required("problem_hash", type("string"));
                            root.required("schedules", list(one_schema(shared)));
                          });
}

}  // namespace heddle

#include "app/jobs/judge_store.h"

#include <fmt/format.h>

#include "app/jobs/answer_digest.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/version.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/motion/motion.h"
#include "core/problem/problem.h"
#include "core/schedule/question.h"

namespace heddle::app {
namespace {

constexpr const char* kOrdersSchema = "heddle.orders/1";
/// Of the time that a search may take: the clock has run on a little by the time that it is asked for again.
constexpr double kAsLong = 0.8;

std::string key_of(const OrdersQuestion& question) {
  // The first line is what `heddle store list` shows.
  return fmt::format("orders of {} on {}\nheddle {} answer {} seed {}", question.problem.kernel, question.problem.machine, version(),
                     answer_digest(), question.seed) +
         demands_text(question.demands) + problem_text(question.problem);
}

struct KeptOrders {
  std::int64_t milliseconds = 0;
  std::vector<NextBest> orders;
};

Result<KeptOrders> parse_orders(const std::string& text, const Problem& problem) {
  return read_document<KeptOrders>(text, "orders", kOrdersSchema, nullptr, [&](ObjectReader& root, KeptOrders& kept) {
    kept.milliseconds = root.integer("milliseconds", 0, std::int64_t{1} << 62);
    for (const Cursor& at : root.required_list("orders")) {
      ObjectReader object(at);
      NextBest& order = kept.orders.emplace_back();
      order.name = object.string("name");
      if (const auto schedule = object.require("schedule")) read_schedule_from(*schedule, problem, order.schedule);
    }
  });
}

std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1000); }

}  // namespace

std::optional<std::vector<NextBest>> find_orders(const ContentStore& store, const OrdersQuestion& question) {
  const std::optional<std::string> text = store.on() ? store.find(key_of(question)) : std::nullopt;
  if (!text) return std::nullopt;
  Result<KeptOrders> kept = parse_orders(*text, question.problem);
  if (!kept || kept->milliseconds < milliseconds(kAsLong * question.seconds)) return std::nullopt;
  std::vector<NextBest> orders;
  for (NextBest& order : kept->orders) {
    if (!check(question.problem, order.schedule, question.demands).valid()) continue;
    const motion::Motion run = motion::motion_of(question.problem, order.schedule);
    if (!run.fault.empty()) continue;
    order.period = run.period.cycles();
    order.schedule.claim.reset();  // of an earlier run
    orders.push_back(std::move(order));
  }
  return orders;
}

bool keep_orders(const ContentStore& store, const OrdersQuestion& question, const std::vector<NextBest>& orders) {
  if (!store.on()) return false;
  Json list = Json::array();
  for (const NextBest& order : orders)
    list.push(Json::Object{{"name", order.name}, {"schedule", schedule_json(question.problem, order.schedule)}});
  Json root = Json::object();
  root.set("schema", kOrdersSchema).set("milliseconds", milliseconds(question.seconds)).set("orders", std::move(list));
  return store.put(key_of(question), root.line());
}

}  // namespace heddle::app

// Shipped kernels and machines with random damage: resolving either explains itself or returns a problem whose parts
// fit.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  std::int64_t number() {
    static const std::vector<std::int64_t> kNumbers{0,
                                                    1,
                                                    2,
                                                    3,
                                                    -1,
                                                    64,
                                                    100,
                                                    -7,
                                                    17,
                                                    128,
                                                    4096,
                                                    1 << 30,
                                                    std::int64_t{1} << 31,
                                                    std::int64_t{1} << 62,
                                                    std::numeric_limits<std::int64_t>::max(),
                                                    std::numeric_limits<std::int64_t>::min()};
    return kNumbers[below(kNumbers.size())];
  }

  Expr formula() {
    static const std::vector<const char*> kFormulas{"elems", "N*K",      "bytes/0", "elems*elems*elems*elems",
                                                    "0-1",   "nonsense", "KV",      "rows % cols"};
    return below(2) ? Expr(number()) : *Expr::parse(kFormulas[below(kFormulas.size())]);
  }

  void hurt(Kernel& k) {
    TileOp& op = k.body[below(k.body.size())];
    TileValue& value = k.values[below(k.values.size())];
    const std::string other = k.values[below(k.values.size())].name;
    switch (below(13)) {
      case 0:
        if (!k.params.empty()) k.params[below(k.params.size())].value = number();
        break;
      case 1:
        if (!value.shape.empty()) value.shape[below(value.shape.size())] = formula();
        break;
      case 2: value.alias_of = other; break;
      case 3: value.space = static_cast<Space>(below(4)); break;
      case 4: value.registers = formula(); break;
      case 5:
        if (!op.inputs.empty()) op.inputs[below(op.inputs.size())].value = other;
        break;
      case 6:
        if (!op.inputs.empty()) op.inputs[below(op.inputs.size())].distance = static_cast<int>(below(4)) - 1;
        break;
      case 7: op.outputs = {other}; break;
      case 8: op.kind = k.body[below(k.body.size())].kind; break;
      case 9: k.body.erase(k.body.begin() + static_cast<std::ptrdiff_t>(below(k.body.size()))); break;
      case 10: k.order.push_back({op.name, k.body[below(k.body.size())].name, formula(), static_cast<int>(below(3))}); break;
      case 11:
        if (!value.shape.empty()) value.shape.pop_back();
        break;
      default:
        op.cost = CostOverride{};
        op.cost->latency = formula();
        op.cost->window = formula();
        op.cost->uses = std::vector<UnitCost>{{"TC", formula(), formula(), formula()}};
        op.cost->asynchronous = below(2) == 1;
    }
  }

  void hurt(Machine& m) {
    CostRule& rule = m.rules[below(m.rules.size())];
    switch (below(8)) {
      case 0: rule.latency = formula(); break;
      case 1: rule.window = formula(); break;
      case 2: rule.warps = formula(); break;
      case 3:
        if (!rule.uses.empty()) rule.uses[0].duration = formula();
        break;
      case 4: m.units[below(m.units.size())].capacity = number(); break;
      case 5: m.limits.smem_bytes = number(); break;
      case 6: m.limits.tmem_columns = number(); break;
      default: m.handoff.register_copy = formula();
    }
  }

 private:
  std::mt19937 random_;
};

void check_consistent(const Problem& p) {
  const auto op_ok = [&](OpId id) { return id.valid() && id.index() < p.ops.size(); };
  bool good = true;
  for (const Op& op : p.ops) {
    good = good && op.latency >= 0 && op.window >= 0 && op.warps >= 1 && op.warps <= p.limits.warps_per_cta;
    for (const UnitUse& u : op.uses)
      good =
          good && u.unit.index() < p.units.size() && u.duration > 0 && u.amount > 0 && u.amount <= p.unit(u.unit).capacity && u.offset >= 0;
  }
  for (const Value& v : p.values)
    good = good && op_ok(v.producer) && v.bytes > 0 && v.registers >= 0 && v.registers <= p.limits.registers_per_thread;
  for (const Edge& e : p.edges) {
    good = good && op_ok(e.from) && op_ok(e.to) && e.latency >= 0 && e.handoff >= 0 && e.hold >= 0 && e.distance >= 0;
    good = good && (!e.value.valid() || p.value(e.value).producer == e.from);
  }
  for (const Channel& c : p.channels) {
    good = good && op_ok(c.writer) && !c.values.empty() && !c.readers.empty() && c.size > 0 && c.max_depth >= 1;
    good = good && p.value(c.values[0]).producer == c.writer;
    for (const Reader& r : c.readers) good = good && op_ok(r.op) && r.distance >= 0 && r.release >= 0 && r.signal >= 0;
  }
  good = good && p.resident_smem <= p.limits.smem_bytes && p.resident_columns <= p.limits.tmem_columns;
  CHECK(good);
}

}  // namespace

TEST_CASE("damaged kernels and machines are explained or resolve to something consistent", "[core]") {
  std::vector<std::pair<Kernel, Machine>> pairs;
  for (const auto& [kernel, machine] : std::vector<std::pair<std::string, std::string>>{{"toy_fig1", "toy"},
                                                                                        {"gemm_hopper", "h100"},
                                                                                        {"attention_forward_hopper", "h200"},
                                                                                        {"attention_backward_hopper", "h100"},
                                                                                        {"layernorm", "h100"},
                                                                                        {"attention_forward_blackwell", "b200"},
                                                                                        {"attention_backward_blackwell", "b200"}}) {
    const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
    const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
    REQUIRE(k);
    REQUIRE(m);
    pairs.emplace_back(*k, *m);
  }
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  Damage damage(seed);
  int resolved = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    auto [kernel, machine] = pairs[damage.below(pairs.size())];
    for (std::size_t n = damage.below(3) + 1; n > 0 && !kernel.body.empty(); --n)
      damage.below(4) == 0 ? damage.hurt(machine) : damage.hurt(kernel);
    const Result<Problem> p = resolve(kernel, machine);
    if (p) {
      ++resolved;
      check_consistent(*p);
      continue;
    }
    ++refused;
    CHECK_FALSE(p.error().faults.empty());
    for (const Fault& f : p.error().faults)
      if (f.message.empty()) FAIL("a fault without a message at " << f.pointer);
  }
  CHECK(resolved > 100);
  CHECK(refused > 100);
}

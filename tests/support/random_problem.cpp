// Seeded problem generators.
#include "tests/support/random_problem.h"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace heddle::test {
namespace {

/// Draws by remainder, because the standard distributions differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  int between(int low, int high) { return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

/// Connects two ops; through the producer's value where it has one.
void connect(Problem& p, Dice& dice, OpId from, OpId to, int distance) {
  const Op &producer = p.op(from), &consumer = p.op(to);
  Edge e;
  e.from = from;
  e.to = to;
  e.distance = distance;
  e.latency = producer.latency;
  e.waits = producer.asynchronous || producer.variable_latency;
  const auto value = std::find_if(p.values.begin(), p.values.end(), [&](const Value& v) { return v.producer == from; });
  if (value != p.values.end()) {
    e.value = ValueId(static_cast<std::size_t>(value - p.values.begin()));
    e.handoff = dice.between(0, value->space == Space::Register ? 3 : 1);
    if (value->space == Space::Register && consumer.asynchronous) e.hold = consumer.latency;
  }
  const bool repeated = std::any_of(p.edges.begin(), p.edges.end(), [&](const Edge& o) {
    return std::tie(o.from, o.to, o.distance) == std::tie(e.from, e.to, e.distance);
  });
  if (!repeated) p.edges.push_back(e);
}

/// One channel per value; now and then a tensor or shared memory value shares the storage of one that its producer reads.
void make_channels(Problem& p, Dice& dice, int max_cost) {
  std::vector<ChannelId> channel_of(p.values.size());
  for (std::size_t x = 0; x < p.values.size(); ++x) {
    const Value& value = p.values[x];
    if (value.space != Space::Register) {
      for (const Edge& e : p.edges) {
        if (e.to != value.producer || !e.value.valid() || e.distance > 0 || p.value(e.value).space != value.space) continue;
        if (e.value.index() >= x || !channel_of[e.value.index()].valid() || !dice.chance(25)) continue;
        channel_of[x] = channel_of[e.value.index()];
        p.channels[channel_of[x].index()].values.push_back(ValueId(x));
        break;
      }
    }
    if (channel_of[x].valid()) continue;
    Channel channel;
    channel.name = value.name;
    channel.space = value.space == Space::Register ? Space::Smem : value.space;
    channel.size = value.space == Space::Tmem ? 16 * dice.between(1, 4) : 16 * dice.between(1, 3);
    channel.values = {ValueId(x)};
    channel.writer = value.producer;
    channel.only_if_crossing = value.space == Space::Register;
    channel.max_depth = dice.chance(85) ? 8 : dice.between(2, 3);
    channel_of[x] = ChannelId(p.channels.size());
    p.channels.push_back(channel);
  }
  for (const Edge& e : p.edges) {
    if (!e.value.valid()) continue;
    const Op& reader = p.op(e.to);
    Reader r;
    r.op = e.to;
    r.distance = e.distance;
    r.release = reader.asynchronous ? reader.latency : dice.between(0, max_cost);
    r.signal = dice.between(0, 2);
    p.channels[channel_of[e.value.index()].index()].readers.push_back(r);
  }
}

}  // namespace

Problem random_problem(std::uint64_t seed, const RandomProblemOptions& options) {
  Dice dice(seed);
  Problem p;
  p.kernel = "random" + std::to_string(seed);
  p.machine = "random";
  const int unit_count = dice.between(1, 3);
  for (int u = 0; u < unit_count; ++u) {
    Unit unit;
    unit.name = "U" + std::to_string(u);
    unit.capacity = dice.chance(65) ? 1 : dice.between(2, 4);
    p.units.push_back(unit);
  }
  const bool producers = options.producers && options.max_groups >= 2 && dice.chance(40);
  p.max_groups = dice.between(producers ? 2 : 1, options.max_groups);
  const int count = dice.between(options.min_ops, options.max_ops);
  for (int v = 0; v < count; ++v) {
    Op op;
    op.name = std::string(1, static_cast<char>('a' + v));
    op.kind = "random";
    op.variable_latency = producers && (v == 0 || dice.chance(15));
    op.asynchronous = op.variable_latency || dice.chance(30);
    op.window = op.asynchronous ? dice.between(0, 1) : dice.between(0, options.max_cost);
    if (dice.chance(25)) op.window = 0;
    op.latency = dice.between(dice.chance(10) ? 0 : 1, options.max_cost);
    if (dice.chance(85)) op.latency = std::max(op.latency, op.window);
    op.warps = dice.chance(70) ? 1 : dice.between(2, 4);
    op.aligned = dice.chance(15);
    const int uses = dice.chance(15) ? 0 : dice.chance(80) ? 1 : 2;
    for (int i = 0; i < uses; ++i) {
      UnitUse use;
      use.unit = UnitId(static_cast<std::size_t>(dice.between(0, unit_count - 1)));
      use.duration = dice.between(dice.chance(10) ? 0 : 1, options.max_cost);
      use.offset = dice.chance(75) ? 0 : dice.between(0, 3);
      use.amount = dice.between(1, static_cast<int>(p.unit(use.unit).capacity));
      op.uses.push_back(use);
    }
    p.ops.push_back(op);
    if (!dice.chance(90)) continue;
    Value value;
    value.name = std::string(1, static_cast<char>('A' + v));
    value.producer = OpId(static_cast<std::size_t>(v));
    const int where = dice.between(1, 100);
    const bool memory = options.channels && (!options.registers || (op.variable_latency ? where <= 85 : where <= 35));
    if (!memory && !options.registers) continue;
    value.space = !memory ? Space::Register : where % 3 == 0 ? Space::Tmem : Space::Smem;
    value.bytes = 16;
    value.registers = memory ? 0 : dice.between(1, 4);
    p.values.push_back(value);
  }
  for (int v = 1; v < count; ++v) {
    const int inputs = dice.chance(10) ? 0 : dice.chance(70) ? 1 : 2;
    for (int i = 0; i < inputs; ++i) {  // one draw a statement: compilers do not agree on the order of arguments
      const int distance = dice.chance(80) ? 0 : dice.between(1, 2);
      const int from = dice.between(0, v - 1);
      connect(p, dice, OpId(static_cast<std::size_t>(from)), OpId(static_cast<std::size_t>(v)), distance);
    }
  }
  const int back = dice.between(0, 2);
  for (int i = 0; i < back; ++i) {
    const int from = dice.between(0, count - 1), to = dice.between(0, from);
    connect(p, dice, OpId(static_cast<std::size_t>(from)), OpId(static_cast<std::size_t>(to)), dice.between(1, 2));
  }
  make_channels(p, dice, options.max_cost);

  Limits& l = p.limits;
  std::int64_t bytes = 0, columns = 0, registers = 0;
  for (const Channel& c : p.channels) (c.space == Space::Tmem ? columns : bytes) += c.size;
  for (const Value& v : p.values) registers += v.registers;
  p.resident_smem = dice.chance(20) ? 16 : 0;
  p.resident_columns = columns > 0 && dice.chance(20) ? 16 : 0;
  p.resident_registers = dice.chance(20) ? 2 : 0;
  l.smem_bytes = dice.chance(75) ? 100000 : p.resident_smem + 16 * dice.between(static_cast<int>(bytes / 20), static_cast<int>(bytes / 8));
  l.tmem_columns = dice.chance(75) ? 512 : 64 << dice.between(0, 2);
  l.register_overhead = dice.between(0, 2);
  l.register_granule = 1 << dice.between(0, 3);
  l.producer_registers = 8;
  l.registers_per_thread = dice.chance(70) ? 255 : 10 + dice.between(0, static_cast<int>(registers) + 4);
  l.registers_per_sm = dice.chance(85) ? 65536 : 32 * dice.between(32, 128);
  l.warps_per_cta = dice.chance(85) ? 32 : dice.between(6, 12);
  return p;
}

Problem random_layered_problem(std::uint64_t seed, int ops) {
  Dice dice(seed);
  Problem p;
  p.kernel = "layered" + std::to_string(seed);
  p.machine = "random";
  const std::pair<const char*, std::int64_t> units[] = {{"TC", 1}, {"MUFU", 1}, {"FMA", 1}, {"TMA", 1}, {"SMEM", 128}};
  for (const auto& [name, capacity] : units) {
    Unit unit;
    unit.name = name;
    unit.capacity = capacity;
    p.units.push_back(unit);
  }
  p.max_groups = 4;
  const int width = std::max(2, ops / 8);
  for (int v = 0; v < ops; ++v) {
    Op op;
    op.name = "op" + std::to_string(v);
    op.kind = "random";
    const bool load = v < width && v % 2 == 0;
    const bool mma = !load && dice.chance(25);
    const Cycle duration = 16 * dice.between(2, 32);
    op.variable_latency = load;
    op.asynchronous = load || mma;
    op.latency = load ? 600 + duration : duration + 16 * dice.between(0, 4);
    op.window = op.asynchronous ? 16 : duration;
    op.warps = load ? 1 : 4;
    op.aligned = mma;
    op.uses.push_back({UnitId(load ? 3u : mma ? 0u : static_cast<std::size_t>(dice.between(1, 2))), 0, duration, 1});
    if (mma || load) op.uses.push_back({UnitId(4), 0, duration, load ? 64 : 32});
    p.ops.push_back(op);
    Value value;
    value.name = "v" + std::to_string(v);
    value.producer = OpId(static_cast<std::size_t>(v));
    value.space = load ? Space::Smem : Space::Register;
    value.bytes = 1024;
    value.registers = !load && dice.chance(std::min(100, 6000 / ops)) ? dice.between(1, 4) : 0;
    p.values.push_back(value);
  }
  for (int v = width; v < ops; ++v) {
    const int inputs = dice.between(1, 2), layer = v / width * width;
    for (int i = 0; i < inputs; ++i)
      connect(p, dice, OpId(static_cast<std::size_t>(dice.between(std::max(0, layer - 2 * width), layer - 1))),
              OpId(static_cast<std::size_t>(v)), 0);
    if (dice.chance(10)) connect(p, dice, OpId(static_cast<std::size_t>(v)), OpId(static_cast<std::size_t>(v)), 1);
  }
  make_channels(p, dice, 16);
  for (Channel& c : p.channels) {
    c.size = 1024;
    c.max_depth = 8;
    for (Reader& r : c.readers) r.release = std::max(r.release, p.op(r.op).window);
  }
  Limits& l = p.limits;
  l.smem_bytes = 8 * 1024 * static_cast<std::int64_t>(p.channels.size());
  l.register_overhead = 16;
  l.registers_per_sm = 65536;
  return p;
}

namespace {

Op mixed_op(Dice& dice, int index, bool load) {
  const std::size_t unit = load ? 3 : static_cast<std::size_t>(dice.between(0, 2));
  const Cycle duration = dice.between(64, 640);
  Op op;
  op.name = "op" + std::to_string(index);
  op.kind = "random";
  op.variable_latency = load;
  op.asynchronous = load || unit == 0;
  op.latency = load ? 700 : duration + dice.between(0, 60);
  op.window = op.asynchronous ? 16 : duration;
  op.warps = load ? 1 : 4;
  op.aligned = unit == 0;
  op.uses.push_back({UnitId(unit), 0, load ? duration / 2 : duration, 1});
  return op;
}

/// Closes a circuit: climbs from `last` along inputs until the latencies add up to `least`, and feeds `last` back to there.
/// False when there is no such path, or it is longer than `most`.
bool close_circuit(Problem& p, Dice& dice, std::size_t last, Cycle least, Cycle most) {
  std::size_t top = last;
  Cycle sum = p.ops[last].latency;
  while (sum < least) {
    std::vector<std::size_t> inputs;
    for (const Edge& e : p.edges)
      if (e.to.index() == top && e.distance == 0 && !p.op(e.from).variable_latency) inputs.push_back(e.from.index());
    if (inputs.empty()) return false;
    top = inputs[static_cast<std::size_t>(dice.between(0, static_cast<int>(inputs.size()) - 1))];
    sum += p.ops[top].latency;
  }
  if (sum > most) return false;
  connect(p, dice, OpId(last), OpId(top), 1);
  return true;
}

}  // namespace

Problem random_mixed_problem(std::uint64_t seed, int ops) {
  Dice dice(seed + 7919);
  Problem p;
  p.kernel = "mixed" + std::to_string(seed);
  p.machine = "random";
  for (const char* name : {"TC", "MUFU", "FMA", "TMA"}) {
    Unit unit;
    unit.name = name;
    p.units.push_back(unit);
  }
  p.max_groups = 4;
  const int loads = std::max(1, ops / 12);
  for (int v = 0; v < ops; ++v) {
    const bool load = v < loads;
    p.ops.push_back(mixed_op(dice, v, load));
    Value value;
    value.name = "v" + std::to_string(v);
    value.producer = OpId(static_cast<std::size_t>(v));
    value.space = load ? Space::Smem : Space::Register;
    value.bytes = 1024;
    value.registers = load ? 0 : dice.between(1, 4);
    p.values.push_back(value);
  }
  const auto input = [&](int v, int first, int last) {
    connect(p, dice, OpId(static_cast<std::size_t>(dice.between(first, last))), OpId(static_cast<std::size_t>(v)), 0);
  };
  for (int v = loads; v < ops; ++v) {
    if (v > loads) input(v, std::max(loads, v - 3), v - 1);
    if (v == loads || dice.chance(10)) input(v, 0, loads - 1);
    if (v > loads && dice.chance(12)) input(v, std::max(loads, v - 8), v - 1);
  }
  std::vector<Cycle> load(p.units.size(), 0);
  for (const Op& op : p.ops) load[op.uses[0].unit.index()] += op.uses[0].duration;
  const Cycle res = *std::max_element(load.begin(), load.end());
  int circuits = std::max(2, ops / 10);
  for (int tries = 0; tries < 50 * ops && circuits > 0; ++tries) {
    const auto last = static_cast<std::size_t>(dice.between(ops / 3, ops - 1));
    circuits -= close_circuit(p, dice, last, res * dice.between(60, 100) / 100, res * 110 / 100);
  }
  make_channels(p, dice, 16);
  for (Edge& e : p.edges)
    if (e.value.valid() && p.value(e.value).space == Space::Register) e.handoff = 92 + 8 * dice.between(0, 8);
  for (Channel& c : p.channels) {
    c.size = 1024;
    c.max_depth = 8;
    for (Reader& r : c.readers) {
      r.release = std::max(r.release, p.op(r.op).window);
      r.signal = 40;
    }
  }
  p.limits.smem_bytes = 8 * 1024 * static_cast<std::int64_t>(p.channels.size());
  p.limits.register_overhead = 16;
  p.limits.registers_per_sm = 65536;
  return p;
}

}  // namespace heddle::test

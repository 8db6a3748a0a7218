// Counting is slow and plans are judged again and again, so what was counted of two layouts and an instruction is kept: the layouts never
// change, and an entry holds them, so that no address comes to mean another one.
#include "core/check/layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/check/families.h"
#include "core/check/layout_reading.h"

namespace heddle {
namespace {

using namespace check_layout;

constexpr std::size_t kMostEntries = 4096;

/// One access, counted.
struct Count {
  std::string wrong;  ///< why it cannot be
  std::int64_t port = 0, least = 0, issues = 0, selects = 0;
};

class Counter {
 public:
  Counter(const OpAccess& access, const Layout& layout, const MemoryOffsets& memory)
      : held_(*access.held), layout_(layout), memory_(memory), bits_(access.bits), row_(*access.by), exchange_(access.exchange) {}

  Count run() {
    const std::int64_t registers = held_.extent(LayoutAxis::Register), lanes = held_.extent(LayoutAxis::Lane),
                       warps = held_.extent(LayoutAxis::Warp);
    const bool matrices = row_.kind == InstructionKind::MatrixLoad || row_.kind == InstructionKind::MatrixStore;
    // What a lane moves at once: its bytes, or a register of each matrix.
    const std::int64_t at_once = (matrices ? 32 : row_.bytes * 8) / bits_, per_issue = at_once * (matrices ? row_.matrices : 1);
    if (held_.shape != layout_.shape) return wrong("the two tiles have other shapes");
    if (lanes != kLanes) return wrong(fmt::format("{} lanes hold the tile, and a warp has {}", lanes, kLanes));
    if (at_once < 1 || registers % per_issue != 0)
      return wrong(fmt::format("{} elements per thread are no multiple of {}", registers, per_issue));
    if (registers * lanes * warps > kMostPlaces) return wrong("it is too large to be counted");
    if (row_.transposed && bits_ != 16) return wrong(fmt::format("elements have {} bits, and transposed matrices 16", bits_));
    const auto cycles = row_.cycles.evaluate({{"bytes", row_.bytes}, {"bits", row_.bytes * 8}});
    const std::int64_t each = cycles ? std::clamp<std::int64_t>(*cycles, 0, 1 << 20) : 1;
    std::vector<bool> moved(memory_.offsets.size(), false);
    for (std::int64_t warp = 0; warp < warps; ++warp)
      for (std::int64_t first = 0; first < registers; first += at_once) {
        std::array<Offsets, kLanes> offsets;
        for (int lane = 0; lane < kLanes; ++lane)
          for (std::int64_t i = 0; i < at_once; ++i) {
            std::int64_t reg = first + i;
            if (exchange_.used() && (lane >> exchange_.lane & 1) != 0) reg ^= std::int64_t{1} << exchange_.register_bit;
            if (reg >= registers) return wrong(fmt::format("lane {} has no register {}", lane, reg));
            LayoutPlace place;
            place[LayoutAxis::Register] = reg, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Warp] = warp;
            const std::optional<Coordinates> element = element_at(held_, place);
            if (!element) return wrong(fmt::format("register {} of lane {} holds nothing", reg, lane));
            const auto number = static_cast<std::size_t>(number_of(*element, held_.shape));
            moved[number] = true;
            offsets[static_cast<std::size_t>(lane)].push_back(memory_.offsets[number]);
          }
        if (std::string why = matrices ? fits_rows(offsets) : fits_lanes(offsets); !why.empty()) return wrong(std::move(why));
        const int together = matrices ? kLanes : row_.lanes_per_phase;
        for (int lane = 0; lane < kLanes; lane += together) {
          count_.least += each;
          count_.port += each * ways(offsets, lane, lane + together);
        }
      }
    if (const auto left = std::find(moved.begin(), moved.end(), false); left != moved.end())
      return wrong(fmt::format("element {} is in no register", left - moved.begin()));
    count_.issues = registers / per_issue;
    // An element that is held twice passes two selects.
    if (exchange_.used()) count_.selects = registers * lanes * warps;
    return count_;
  }

 private:
  static Count wrong(std::string why) { return {std::move(why), 0, 0, 0, 0}; }
  std::int64_t byte(std::int64_t offset) const { return offset * bits_ / 8; }

  /// Each lane's elements lie side by side, from a multiple of the instruction's bytes on.
  std::string fits_lanes(const std::array<Offsets, kLanes>& offsets) const {
    for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
      if (offsets[lane][0] * bits_ % (row_.bytes * 8) != 0)
        return fmt::format("lane {} begins at byte {}, no multiple of {}", lane, byte(offsets[lane][0]), row_.bytes);
      for (std::size_t i = 1; i < offsets[lane].size(); ++i)
        if (offsets[lane][i] != offsets[lane][0] + static_cast<std::int64_t>(i))
          return fmt::format("elements {} and {} of lane {} are not side by side in memory", i - 1, i, lane);
    }
    return {};
  }

  /// The lanes' elements are 8 rows of 16 bytes; lane 4 r + q has piece q of row r, or, transposed, of column r the rows 2 q and 2 q + 1.
  std::string fits_rows(const std::array<Offsets, kLanes>& offsets) const {
    const std::int64_t word = 32 / bits_;
    for (std::int64_t r = 0; r < 8; ++r) {
      std::int64_t begin = -1;
      for (std::int64_t c = 0; c < 4 * word; ++c) {
        const std::int64_t lane = row_.transposed ? 4 * c + r / 2 : 4 * r + c / word, i = row_.transposed ? r % 2 : c % word;
        const std::int64_t offset = offsets[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
        if (c == 0) begin = offset;
        if (begin * bits_ % 128 != 0) return fmt::format("row {} of a matrix begins at byte {}, no multiple of 16", r, byte(begin));
        if (offset != begin + c) return fmt::format("row {} of a matrix is not 16 bytes side by side", r);
      }
    }
    return {};
  }

  /// The most different words that these lanes want of one bank.
  std::int64_t ways(const std::array<Offsets, kLanes>& offsets, int from, int to) const {
    std::array<std::set<std::int64_t>, 32> words;
    for (int lane = from; lane < to; ++lane)
      for (const std::int64_t offset : offsets[static_cast<std::size_t>(lane)]) {
        const std::int64_t word = byte(offset) / 4;
        words[static_cast<std::size_t>(word % 32)].insert(word);
      }
    std::size_t most = 1;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<std::int64_t>(most);
  }

  const Layout& held_;
  const Layout& layout_;
  const MemoryOffsets& memory_;
  int bits_;
  const Instruction& row_;
  const LaneExchange& exchange_;
  Count count_;
};

template <class Key, class Value>
class Kept {
 public:
  template <class Make>
  Value of(const Key& key, Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = all_.find(key); it != all_.end()) return it->second;
    }
    Value value = make();
    const std::lock_guard lock(mutex_);
    if (all_.size() >= kMostEntries) all_.clear();
    return all_.emplace(key, std::move(value)).first->second;
  }

 private:
  std::map<Key, Value> all_;
  std::mutex mutex_;
};

using LayoutPtr = std::shared_ptr<const Layout>;

std::shared_ptr<const MemoryOffsets> memory_of(const LayoutPtr& layout) {
  static Kept<LayoutPtr, std::shared_ptr<const MemoryOffsets>> kept;
  return kept.of(layout, [&] { return std::make_shared<const MemoryOffsets>(read_memory(*layout)); });
}

Count count_of_access(const OpAccess& access, const LayoutPtr& memory) {
  const Instruction& row = *access.by;
  using Key = std::tuple<LayoutPtr, LayoutPtr, int, std::string, std::string, int, int, int, bool, int, int, int>;
  static Kept<Key, Count> kept;
  const Key key{access.held,
                memory,
                access.bits,
                row.name,
                row.cycles.text(),
                static_cast<int>(row.kind),
                row.bytes,
                row.matrices,
                row.transposed,
                row.lanes_per_phase,
                access.exchange.lane,
                access.exchange.register_bit};
  return kept.of(key, [&] { return Counter(access, *memory, *memory_of(memory)).run(); });
}

bool panels(const LayoutPtr& layout, int bits, std::int64_t span) {
  static Kept<std::tuple<LayoutPtr, int, std::int64_t>, bool> kept;
  return kept.of({layout, bits, span}, [&] { return lies_in_panels(*memory_of(layout), layout->shape, bits, span); });
}

std::optional<Order> rows_of(const LayoutPtr& layout, int bits, std::int64_t span = 0) {
  static Kept<std::tuple<LayoutPtr, int, std::int64_t>, std::optional<Order>> kept;
  return kept.of({layout, bits, span}, [&] { return order_of_rows(*memory_of(layout), layout->shape, bits, span); });
}

std::optional<Order> columns_of(const LayoutPtr& layout, std::int64_t per) {
  static Kept<std::pair<LayoutPtr, std::int64_t>, std::optional<Order>> kept;
  return kept.of({layout, per}, [&] { return order_of_columns(*layout, per); });
}

std::int64_t shuffles_between(const LayoutPtr& from, const LayoutPtr& to, int bits) {
  static Kept<std::tuple<LayoutPtr, LayoutPtr, int>, std::int64_t> kept;
  return kept.of({from, to, bits}, [&] { return count_shuffles(*from, *to, bits); });
}

class Judge {
 public:
  explicit Judge(const LayoutPlan& plan) : plan_(plan) {}

  LayoutJudgement run() {
    for (const auto& [name, op] : plan_.ops) {
      op_ = name;
      const auto multiplies = [](const OpAccess& access) { return access.by && access.by->kind == InstructionKind::Product; };
      judge_scratch(op);
      const std::int64_t shuffles = judge_change(op);
      const std::int64_t port = std::any_of(op.accesses.begin(), op.accesses.end(), multiplies) ? judge_product(op) : judge_moves(op);
      if (op.priced && (port >= 0 || shuffles > 0)) out_.port.emplace_back(name, std::max<std::int64_t>(port, 0) + shuffles);
      if (port < 0) continue;
      if (!op.cost.known)
        object(fmt::format("what {} takes of the port is said not to be known, and its accesses take {} cycles", name, port));
      else if (op.cost.port != port)
        object(
            fmt::format("{} is said to hold the port of shared memory for {} cycles, and its accesses take {}", name, op.cost.port, port),
            op.cost.port, port);
    }
    return std::move(out_);
  }

 private:
  void object(std::string message, std::int64_t amount = 0, std::int64_t limit = 0) {
    out_.violations.push_back({"layout", std::move(message), {}, -1, amount, limit});
    out_.of.push_back(op_);
  }

  void object_unknown(const OpAccess& access, std::int64_t port) {
    object(fmt::format("what {} takes of the port by {} is said not to be known, and counted are {} cycles", op_, access.by->name, port));
  }

  /// The port cycles of all that is charged, as counted here; -1: nothing is known of it.
  std::int64_t judge_moves(const OpPlan& op) {
    std::int64_t port = 0;
    bool known = false;
    for (const OpAccess& access : op.accesses) {
      const std::int64_t counted = judge(access);
      if (!access.charged) continue;
      if (counted < 0) return -1;
      known = true;
      port += counted;
    }
    return known ? port : -1;
  }

  /// What is left there for other warps is what they take.
  void judge_scratch(const OpPlan& op) {
    const OpAccess *store = nullptr, *load = nullptr;
    for (const OpAccess& access : op.accesses) {
      if (!access.scratch) continue;
      (access.store ? store : load) = &access;
      const std::int64_t bytes = ceil_div(access.scratch->extent(LayoutAxis::Offset) * access.bits, std::int64_t{8});
      if (bytes > op.scratch_bytes)
        object(fmt::format("{} has {} bytes for its change of layout, and its tile takes {}", op_, op.scratch_bytes, bytes),
               op.scratch_bytes, bytes);
      if (access.held != plan_.values[access.registers].layout)
        object(fmt::format("the registers from which or to which {} brings its tile lie otherwise than it moves them", op_));
    }
    if (!store && !load && op.scratch_bytes == 0) return;
    if (!store || !load || store->bits != load->bits || memory_of(store->scratch)->offsets != memory_of(load->scratch)->offsets)
      object(fmt::format("{} leaves a tile in shared memory otherwise than it takes it from there", op_));
  }

  /// Instructions of all warps that fetch registers of other lanes.
  std::int64_t judge_change(const OpPlan& op) {
    if (!op.change) return 0;
    const LayoutPtr &from = plan_.values[op.change->from].layout, &to = plan_.values[op.change->to].layout;
    if (!from || !to || from->shape != to->shape) {
      object(fmt::format("{} is said to change a layout that nothing is known of", op_));
      return 0;
    }
    const std::int64_t counted = shuffles_between(from, to, op.change->bits), warps = to->extent(LayoutAxis::Warp);
    const std::int64_t shuffles = op.change->kind == ConversionClass::SharedMemory ? 0 : counted * warps;
    if (counted < 0 && op.scratch_bytes == 0) object(fmt::format("{} needs elements of other warps, and takes them nowhere", op_));
    if (counted >= 0 && shuffles != op.change->shuffles)
      object(fmt::format("{} is said to fetch registers of other lanes {} times, and counted are {}", op_, op.change->shuffles, shuffles),
             op.change->shuffles, shuffles);
    return std::max<std::int64_t>(shuffles, 0);
  }

  /// Along n the result stands as B does, along K as A does: an axis that is relabelled is relabelled on both sides.
  void judge_orders(const ProductSize& size) {
    const LayoutPtr &a = plan_.values[size.a].layout, &b = plan_.values[size.b].layout, &d = plan_.values[size.d].layout;
    if (plan_.family != LayoutPlan::Family::Products || !b || !b->in_memory() || !memory_of(b)->wrong.empty()) return;
    const int bits = size.bits;
    const std::optional<Order> rows = rows_of(b, bits);
    if (!rows) return;  // said elsewhere
    const Order columns = natural(b->shape[1]);
    const Order &along_n = size.b_transposed ? *rows : columns, &along_k = size.b_transposed ? columns : *rows;
    const auto compare = [&](const LayoutPtr& held, std::int64_t per, const Order& other, const char* what, const char* axis) {
      const std::optional<Order> order = columns_of(held, per);
      if (!order)
        object(fmt::format("the registers of {}'s {} lie otherwise than wgmma has them", op_, what));
      else if (order->size() == other.size()
                   ? *order != other
                   : *order != natural(held->shape[1]) || other != natural(static_cast<std::int64_t>(other.size())))
        object(fmt::format("{} has {} in another order in its {} than in B", op_, axis, what));
    };
    if (d && !d->in_memory()) compare(d, 2, along_n, "result", "columns");
    if (a && !a->in_memory())
      compare(a, 32 / bits, along_k, "A", "K");
    else if (along_k != natural(static_cast<std::int64_t>(along_k.size())))
      object(fmt::format("{} has K in another order in its A than in B", op_));
  }

  /// Operands are read by no lane: the catalogue says how fast, instruction by instruction. All operands together; -1: nothing is known.
  std::int64_t judge_product(const OpPlan& op) {
    if (!op.product) {
      object(fmt::format("{} is an mma of no size", op_));
      return -1;
    }
    const std::int64_t m = op.product->m, n = op.product->n, k = op.product->k;
    const int bits = op.product->bits;
    judge_orders(*op.product);
    std::int64_t said = 0, port = -1;
    for (std::size_t i = 0; i < op.accesses.size(); ++i) {
      const OpAccess& access = op.accesses[i];
      if (!access.by) return -1;
      const Instruction& row = *access.by;
      if (const LayoutPtr& memory = plan_.values[access.value].layout) {
        if (const std::string& wrong = memory_of(memory)->wrong; !wrong.empty())
          object(fmt::format("what {} multiplies {} in shared memory", op_, wrong));
        else if (access.value == op.product->b && plan_.family == LayoutPlan::Family::Products
                     ? !rows_of(memory, access.bits)
                     : !panels(memory, access.bits, 128) && !panels(memory, access.bits, 64) && !panels(memory, access.bits, 32))
          object(fmt::format("an operand of {} does not lie in panels of 32, 64 or 128 bytes, which {} reads", op_, row.name));
        // A is as large as it says, B may be larger: a product takes a part of it.
        const std::int64_t rows = memory->shape.at(0), columns = memory->shape.back();
        const bool is_a = (rows == m && columns == k) || (rows == k && columns == m);
        const bool is_b = (rows >= k && columns >= n) || (rows >= n && columns >= k);
        if (op.accesses.size() > 1 ? !(i == 0 ? is_a : is_b) : !is_a && !is_b)
          object(fmt::format("{} is said to multiply {} x {} x {}, and has an operand of {} x {}", op_, m, n, k, rows, columns));
      }
      if (const LayoutPtr& d = plan_.values[access.registers].layout; d && d->shape != std::vector<std::int64_t>{m, n})
        object(fmt::format("{} is said to make {} x {} numbers, and its result has another shape", op_, m, n));
      const auto cycles = row.cycles.evaluate({{"m", m}, {"n", n}, {"k", row.k}, {"bits", bits}});
      if (row.m < 1 || row.k < 1 || m < 1 || k < 1 || !cycles || *cycles < 0) return -1;
      // One instruction reads 32 bytes of the depth of each of its rows.
      const std::int64_t counted =
          sat_mul(sat_mul(ceil_div(m, std::int64_t{row.m}), ceil_div(sat_mul(k, bits), std::int64_t{256})), *cycles);
      if (port >= 0 && port != counted) object(fmt::format("the operands of {} are said to be read at two paces by one instruction", op_));
      port = counted;
      if (!access.cost.known) object_unknown(access, port);
      said = sat_add(said, access.cost.port);
    }
    if (port >= 0 && said != port)
      object(fmt::format("the operands of {} are said to hold the port for {} cycles, and by {} they hold it for {}", op_, said,
                         op.accesses.front().by->name, port),
             said, port);
    return port;
  }

  /// The port cycles as counted here; -1: nothing is known of it.
  std::int64_t judge(const OpAccess& access) {
    const LayoutPtr& memory = plan_.memory_of(access);
    if (!memory || !access.by) return -1;
    const std::shared_ptr<const MemoryOffsets> places = memory_of(memory);
    if (access.turned && !turns(*places, *memory_of(plan_.values[access.value].layout), plan_.values[access.value].layout->shape)) {
      object(fmt::format("{} is said to find its tile transposed, and places are not those of its rows and columns", op_));
      return -1;
    }
    if (!places->wrong.empty()) {
      object(fmt::format("what {} moves {} in shared memory", op_, places->wrong));
      return -1;
    }
    if (access.by->kind == InstructionKind::BulkCopy) {
      // Rows may be in another order where boxes have more dimensions: of 16 at a time.
      const bool boxes = panels(memory, access.bits, access.by->swizzle) ||
                         (access.store && in_boxes(rows_of(memory, access.bits, access.by->swizzle).value_or(Order{})));
      if (access.packed ? access.by->swizzle != 0 || !lies_packed(*places, memory->shape, access.bits, *access.packed == PackedOrder::Lines)
                        : !boxes)
        object(fmt::format("the tile of {} does not lie in the boxes of {}", op_, access.by->name));
      const auto bytes = static_cast<std::int64_t>(places->offsets.size()) * access.bits / 8, port = (bytes + 127) / 128;
      if (!access.cost.known)
        object_unknown(access, port);
      else if (access.cost.port != port)
        object(fmt::format("{} by {} is said to take {} cycles of the port, and its bytes take {}", op_, access.by->name, access.cost.port,
                           port),
               access.cost.port, port);
      return port;
    }
    if (!access.held) return -1;
    const Count count = count_of_access(access, memory);
    if (!access.cost.known) {
      // Rightly so where it cannot be.
      if (count.wrong.empty()) object_unknown(access, count.port);
      return -1;
    }
    if (!count.wrong.empty()) {
      object(fmt::format("{} cannot be written as {}: {}", op_, access.by->name, count.wrong));
      return -1;
    }
    const AccessCost& said = access.cost;
    const auto compare = [&](const char* what, std::int64_t is, std::int64_t should) {
      if (is != should)
        object(fmt::format("{} of {} by {}: the plan says {}, counted are {}", what, op_, access.by->name, is, should), is, should);
    };
    compare("port cycles", said.port, count.port);
    compare("port cycles without conflicts", said.least, count.least);
    compare("instructions", said.issues, count.issues);
    compare("selects", said.selects, count.selects);
    return count.port;
  }

  const LayoutPlan& plan_;
  LayoutJudgement out_;
  std::string op_;
};

}  // namespace

std::shared_ptr<const LayoutJudgement> judge_layouts(const std::shared_ptr<const LayoutPlan>& plan) {
  // A thread asks of few plans at a time, thousands of times of each.
  constexpr std::size_t kPlans = 8;
  thread_local std::array<std::pair<std::shared_ptr<const LayoutPlan>, std::shared_ptr<const LayoutJudgement>>, kPlans> last;
  thread_local std::size_t next = 0;
  for (const auto& [known, judgement] : last)
    if (known == plan) return judgement;
  auto judgement = std::make_shared<const LayoutJudgement>(Judge(*plan).run());
  last[next++ % kPlans] = {plan, judgement};
  return judgement;
}

void check_layouts(const Case& c) {
  if (!c.problem.layouts) return;
  const std::shared_ptr<const LayoutJudgement> judgement = judge_layouts(c.problem.layouts);
  for (std::size_t i = 0; i < judgement->violations.size(); ++i) {
    Violation violation = judgement->violations[i];
    if (const OpId op = c.problem.find_op(judgement->of[i]); op.valid()) violation.ops.push_back(op);
    c.found.push_back(std::move(violation));
  }
  if (judgement->port.empty()) return;
  // Where ops stand is the same again and again.
  thread_local std::vector<std::size_t> places;
  places.resize(judgement->port.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& [name, counted] = judgement->port[k];
    if (places[k] >= c.problem.ops.size() || c.problem.ops[places[k]].name != name) {
      const OpId found = c.problem.find_op(name);
      if (!found.valid()) continue;
      places[k] = found.index();
    }
    const Op& op = c.problem.ops[places[k]];
    Cycle reserved = 0;
    for (const UnitUse& use : op.uses)
      if (c.problem.unit(use.unit).role == UnitRole::Smem) reserved += use.work();
    if (reserved < counted)
      c.found.push_back({"layout",
                         fmt::format("{} reserves shared memory for {} cycles, its accesses take {}", op.name, reserved, counted),
                         {OpId(places[k])},
                         -1,
                         reserved,
                         counted});
  }
}

}  // namespace heddle

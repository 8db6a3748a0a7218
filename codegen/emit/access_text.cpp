#include "codegen/emit/access_text.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "codegen/emit/formula.h"
#include "core/layout/access.h"
#include "core/layout/access_parts.h"
#include "core/layout/reader.h"

namespace heddle::codegen {
namespace {

constexpr int kRowBytes = 16, kRows = 8;  // of a matrix of ldmatrix and stmatrix

/// Register by register of every thread, where memory keeps what it holds; and back.
class Places {
 public:
  Places(const Layout& registers, const Layout& memory) : count_(static_cast<int>(registers.extent(LayoutAxis::Register))) {
    const std::vector<std::int64_t> offsets = offsets_of(memory);
    const LayoutReader reader(registers);
    threads_ = static_cast<int>(registers.extent(LayoutAxis::Warp)) * kWarpLanes;
    of_thread_.resize(static_cast<std::size_t>(threads_));
    for (int t = 0; t < threads_; ++t)
      for (int r = 0; r < count_; ++r) {
        LayoutPlace place;
        place[LayoutAxis::Register] = r, place[LayoutAxis::Lane] = t % kWarpLanes, place[LayoutAxis::Warp] = t / kWarpLanes;
        if (const std::int64_t element = reader.element(place); element >= 0)
          of_thread_[static_cast<std::size_t>(t)].emplace(offsets[static_cast<std::size_t>(element)], r);
      }
  }
  /// -1: the thread does not hold what memory has there.
  int register_of(int thread, std::int64_t offset) const {
    const auto& of = of_thread_[static_cast<std::size_t>(thread)];
    const auto found = of.find(offset);
    return found == of.end() ? -1 : found->second;
  }
  int threads() const { return threads_; }
  int registers() const { return count_; }

 private:
  int count_ = 0, threads_ = 0;
  std::vector<std::map<std::int64_t, int>> of_thread_;
};

/// Elements of memory that register `slot` of an issue has in a lane. `addresses`: of all lanes, in bytes.
std::vector<std::int64_t> elements_of(const Instruction& instruction, const std::array<std::int64_t, kWarpLanes>& addresses, int lane,
                                      int slot, int bits) {
  std::vector<std::int64_t> found;
  const int moved = is_matrix(instruction.kind) ? 4 : std::min(instruction.bytes, 4), elements = moved * 8 / bits;
  const auto row = [&](int r) { return addresses[static_cast<std::size_t>(kRows * slot + r)]; };
  for (int e = 0; e < elements; ++e) {
    if (!is_matrix(instruction.kind))
      found.push_back((addresses[static_cast<std::size_t>(lane)] + 4 * slot) * 8 / bits + e);
    else if (instruction.transposed)
      found.push_back(row(lane % 4 * 2 + e) * 8 / bits + lane / 4);
    else
      found.push_back((row(lane / 4) + lane % 4 * 4) * 8 / bits + e);
  }
  return found;
}

/// "4 * j + 2", or whatever it is; nothing where it is no such formula.
std::optional<std::string> index_text(const std::vector<std::int64_t>& of_issue) {
  const int issues = static_cast<int>(of_issue.size());
  const auto at = [&](int j) { return of_issue[static_cast<std::size_t>(j)]; };
  const std::int64_t step = issues > 1 ? at(1) - at(0) : 0;
  bool even = step > 0;
  for (int j = 0; j < issues; ++j) even = even && at(j) == at(0) + step * j;
  const auto plus = [&](std::string text) {
    if (text.empty()) return std::to_string(at(0));
    return at(0) == 0 ? text : fmt::format("{} + {}", text, at(0));
  };
  if (even) return plus(step == 1 ? "j" : fmt::format("{} * j", step));
  if (issues == 1) return std::to_string(at(0));
  const auto formula = BitFormula::of(1, issues, [&](int, int j) { return at(j); });
  if (!formula || !formula->splits()) return std::nullopt;
  return plus(formula->added_text("j"));
}

bool is_store(const Instruction& i) { return i.kind == InstructionKind::SharedStore || i.kind == InstructionKind::MatrixStore; }

const char* wrapper_of(const Instruction& instruction, bool floats) {
  const bool store = is_store(instruction);
  if (instruction.matrices > 0) {
    static constexpr const char* names[2][2][3] = {
        {{"load_matrix", "load_two_matrices", "load_matrices"},
         {"load_matrix_transposed", "load_two_matrices_transposed", "load_matrices_transposed"}},
        {{"store_matrix", "store_two_matrices", "store_matrices"},
         {"store_matrix_transposed", "store_two_matrices_transposed", "store_matrices_transposed"}}};
    return names[store][instruction.transposed][instruction.matrices / 2];
  }
  switch (instruction.bytes) {
    case 1: return store ? "store_byte" : "load_byte";
    case 2: return store ? "store_half" : "load_half";
    case 4: return store ? "store_word" : "load_word";
    case 8: return store ? (floats ? "store_pair" : "store_two") : (floats ? "load_words" : "load_two");
    default: return store ? "store_words" : "load_words";
  }
}

/// How a machine's row differs from what is written by its name; empty: it does not. A file may say anything.
std::string difference(const Instruction& row, const Instruction& written) {
  const auto differs = [&](const std::string& says, const std::string& does) {
    return fmt::format("the machine's row '{}' {}, and the instruction of that name {}", row.name, says, does);
  };
  if (row.kind != written.kind)
    return differs(fmt::format("is of the kind {}", to_string(row.kind)), fmt::format("is a {}", to_string(written.kind)));
  const auto number = [&](const char* what, int says, int does) {
    return says == does ? std::string() : differs(fmt::format("has {} {}", says, what), fmt::format("has {}", does));
  };
  if (std::string why = number(is_matrix(row.kind) ? "bytes in a row" : "bytes per lane", row.bytes, written.bytes); !why.empty())
    return why;
  if (std::string why = number("matrices", row.matrices, written.matrices); !why.empty()) return why;
  if (row.transposed != written.transposed)
    return differs(row.transposed ? "transposes" : "does not transpose", written.transposed ? "does" : "does not");
  return {};
}

}  // namespace

/// What the wrappers of codegen/device/shared_memory.cuh do, whatever a machine's file says.
std::optional<Instruction> written_instruction(std::string_view name) {
  struct Row {
    std::string_view name;
    InstructionKind kind;
    int bytes, matrices;
    bool transposed;
  };
  using K = InstructionKind;
  static constexpr std::array<Row, 22> rows{
      {{"st.shared.1", K::SharedStore, 1, 0, false},       {"st.shared.2", K::SharedStore, 2, 0, false},
       {"st.shared.4", K::SharedStore, 4, 0, false},       {"st.shared.8", K::SharedStore, 8, 0, false},
       {"st.shared.16", K::SharedStore, 16, 0, false},     {"ld.shared.1", K::SharedLoad, 1, 0, false},
       {"ld.shared.2", K::SharedLoad, 2, 0, false},        {"ld.shared.4", K::SharedLoad, 4, 0, false},
       {"ld.shared.8", K::SharedLoad, 8, 0, false},        {"ld.shared.16", K::SharedLoad, 16, 0, false},
       {"stmatrix.x1", K::MatrixStore, 16, 1, false},      {"stmatrix.x2", K::MatrixStore, 16, 2, false},
       {"stmatrix.x4", K::MatrixStore, 16, 4, false},      {"stmatrix.x1.trans", K::MatrixStore, 16, 1, true},
       {"stmatrix.x2.trans", K::MatrixStore, 16, 2, true}, {"stmatrix.x4.trans", K::MatrixStore, 16, 4, true},
       {"ldmatrix.x1", K::MatrixLoad, 16, 1, false},       {"ldmatrix.x2", K::MatrixLoad, 16, 2, false},
       {"ldmatrix.x4", K::MatrixLoad, 16, 4, false},       {"ldmatrix.x1.trans", K::MatrixLoad, 16, 1, true},
       {"ldmatrix.x2.trans", K::MatrixLoad, 16, 2, true},  {"ldmatrix.x4.trans", K::MatrixLoad, 16, 4, true}}};
  for (const Row& row : rows) {
    if (row.name != name) continue;
    Instruction found;
    found.name = row.name;
    found.kind = row.kind;
    found.bytes = row.bytes;
    found.matrices = row.matrices;
    found.transposed = row.transposed;
    found.lanes_per_phase = row.bytes <= 4 ? 32 : 128 / row.bytes;
    return found;
  }
  return std::nullopt;
}

AccessTextResult access_text(const AccessQuestion& q, std::string_view at) {
  const auto refused = [](std::string why) { return AccessTextResult{std::nullopt, std::move(why)}; };
  const auto instruction = written_instruction(q.instruction.name);
  if (!instruction) return refused(fmt::format("'{}' is no instruction that can be written", q.instruction.name));
  if (const std::string other = q.row ? difference(*q.row, *instruction) : std::string(); !other.empty()) return refused(other);
  const AccessResult result = access_of(*q.registers, *q.memory, q.bits, *instruction, q.instruction.exchange);
  if (!result.access) return refused(result.refusal);
  const Access& access = *result.access;
  if (access.issues % q.pieces != 0) return refused(fmt::format("{} issues make no {} equal pieces", access.issues, q.pieces));

  AccessText text;
  text.instruction = *instruction;
  text.issues = access.issues / q.pieces;
  const int threads = access.warps * kWarpLanes, per_register = std::max(1, 32 / q.bits);
  const auto of = [&](int warp, int j) -> const WarpAccess& {
    return access.all[static_cast<std::size_t>(warp * access.issues + q.piece * text.issues + j)];
  };
  const std::int64_t first = of(0, 0).address[0];
  std::int64_t begin = first, end = first;
  for (int w = 0; w < access.warps; ++w)
    for (int j = 0; j < text.issues; ++j)
      for (const std::int64_t a : of(w, j).address)
        if (a >= 0) begin = std::min(begin, a), end = std::max(end, a + instruction->bytes);
  if (q.pieces > 1 && (end - begin) * q.pieces > q.memory->extent(LayoutAxis::Offset) * q.bits / 8)
    return refused("pieces of it do not lie in pieces of memory");
  text.first = begin;
  const auto formula = BitFormula::of(threads, text.issues, [&](int t, int j) {
    const std::int64_t a = of(t / kWarpLanes, j).address[static_cast<std::size_t>(t % kWarpLanes)];
    return a < 0 ? a : a - begin;
  });
  if (!formula || !formula->splits()) return refused("its addresses follow no pattern of the bits of lanes and issues");
  // Exchanged are bits of an address; beyond those that are 0 where the tile begins, of the place in the tile.
  text.in_tile = formula->flips() >= q.alignment;
  text.lanes = formula->thread_text();
  text.base = formula->base() + (q.pieces > 1 ? 0 : begin);
  if (text.base != 0 && !text.in_tile)
    text.lanes = text.lanes.empty() ? std::to_string(text.base) : fmt::format("{} + {}", text.lanes, text.base);
  if (text.lanes.empty()) text.lanes = "0";
  const std::string flipped = formula->flipped_text("j"), added = formula->added_text("j");
  text.address = flipped.empty() ? std::string(at) : fmt::format("({} ^ {})", at, flipped);
  if (!added.empty()) text.address += " + " + added;

  // Which registers those are, which must be the same ones in all lanes.
  const Places places(*q.registers, *q.memory);
  const int slots = is_matrix(instruction->kind) ? instruction->matrices : std::max(1, instruction->bytes / 4);
  const bool part = instruction->bytes < 4;
  const LaneExchange& exchange = q.instruction.exchange;
  const int flip = exchange.used() ? 1 << exchange.register_bit : 0,
            skipped = q.own_registers ? places.registers() / q.pieces * q.piece : 0;
  std::vector<bool> moved(static_cast<std::size_t>(places.registers()), false);
  for (int slot = 0; slot < slots; ++slot) {
    std::vector<std::int64_t> words, others, shifts;
    for (int j = 0; j < text.issues; ++j) {
      int same = -1;
      for (int t = 0; t < threads; ++t) {
        const int lane = t % kWarpLanes;
        const auto elements = elements_of(*instruction, of(t / kWarpLanes, j).address, lane, slot, q.bits);
        int reg = -1;
        for (std::size_t e = 0; e < elements.size(); ++e) {
          const int r = places.register_of(t, elements[e]);
          if (r < 0 || (e > 0 && r != reg + static_cast<int>(e)))
            return refused(fmt::format("a lane holds side by side what {} does not move together", instruction->name));
          if (e == 0) reg = r;
        }
        for (std::size_t e = 0; e < elements.size(); ++e) moved[static_cast<std::size_t>(reg) + e] = true;
        if (exchange.used() && lane >> exchange.lane & 1) reg ^= flip;
        if (t == 0) same = reg;
        if (reg != same || (!part && reg % per_register != 0)) return refused("lanes move other registers than their neighbours");
      }
      same -= skipped;
      words.push_back(same / per_register);
      others.push_back(((same + skipped) ^ flip) / per_register - skipped / per_register);
      shifts.push_back(same % per_register * q.bits);
      if (others.back() < 0) return refused("lanes exchange registers with another piece of the tile");
    }
    const auto index = index_text(words), shift = index_text(shifts);
    if (!index || !shift) return refused("its registers follow no pattern of the bits of issues");
    text.registers.push_back(*index);
    if (part) text.shift = *shift;
    if (!exchange.used()) continue;
    // "2 * (j ^ 4)" where it is that, so that the registers are seen to be each other's.
    text.exchange_lane = exchange.lane;
    const auto other = index_text(others);
    const std::int64_t step = text.issues > 1 ? words[1] - words[0] : 0, in_words = flip / per_register;
    if (step > 0 && in_words % step == 0 && !other) {
      const std::string inside = fmt::format("(j ^ {})", in_words / step),
                        product = step == 1 ? inside : fmt::format("{} * {}", step, inside);
      bool holds = true;
      for (int j = 0; j < text.issues; ++j)
        holds = holds && others[static_cast<std::size_t>(j)] == words[0] + step * (j ^ static_cast<int>(in_words / step));
      if (!holds) return refused("lanes exchange registers with another piece of the tile");
      text.exchanged.push_back(words[0] == 0 ? product : fmt::format("{} + {}", product, words[0]));
    } else if (other) {
      text.exchanged.push_back(*other);
    } else {
      return refused("its registers follow no pattern of the bits of issues");
    }
  }
  // Nothing may be left behind.
  const std::size_t share = moved.size() / static_cast<std::size_t>(q.pieces);
  if (static_cast<std::size_t>(std::count(moved.begin(), moved.end(), true)) != share)
    return refused(fmt::format("{} moves a part of the tile only", instruction->name));
  return {std::move(text), {}};
}

std::vector<std::string> lines_of(const AccessText& text, const RegisterArray& registers, const std::string& slot,
                                  const std::string& note) {
  const auto& [array, floats, words] = registers;
  std::vector<std::string> lines;
  const Instruction& instruction = text.instruction;
  const bool store = is_store(instruction), flips = text.address.front() == '(' && !text.in_tile, part = instruction.bytes < 4;
  const bool bits = floats && (is_matrix(instruction.kind) || instruction.bytes == 16);  // wrappers that take bits, whatever they say
  const char* at = store ? "to" : "from";
  if (text.exchange_lane >= 0) lines.push_back(fmt::format("const bool odd = lane & {};", 1 << text.exchange_lane));
  // Addresses that are flipped are computed where they are used: ptxas would hold all of them in registers otherwise.
  const std::string tile = text.base == 0 ? slot : fmt::format("{} + {}", slot, text.base);
  if (text.in_tile)
    lines.push_back(fmt::format("const u32 {} = {};", at, text.lanes));
  else
    lines.push_back(fmt::format("{}u32 {} = {}{};", flips ? "" : "const ", at, slot, text.lanes == "0" ? "" : " + " + text.lanes));
  const std::string address = text.in_tile ? fmt::format("{} + {}", tile, text.address) : text.address;
  if (flips) lines.push_back(fmt::format("keep_in_register({});", at));
  if (!store && part) {
    lines.emplace_back("#pragma unroll");
    lines.push_back(fmt::format("for (int r = 0; r < {}; ++r) {}[r] = 0;", words, array));
  }
  lines.emplace_back("#pragma unroll");
  const bool block = !store && (part || bits);
  lines.push_back(fmt::format("for (int j = 0; j < {}; ++j){}{}", text.issues, block ? " {" : "", note));
  std::string moved, taken;
  for (std::size_t k = 0; k < text.registers.size(); ++k) {
    std::string word = fmt::format("{}[{}]", array, text.registers[k]);
    if (!text.exchanged.empty()) word = fmt::format("odd ? {}[{}] : {}", array, text.exchanged[k], word);
    if (store && bits) word = fmt::format("__float_as_uint({})", word);
    if (store && part && text.shift != "0") word = fmt::format("{} >> ({})", word, text.shift);
    moved += ", " + word;
    taken += fmt::format(", bits[{}]", k);
  }
  const char* wrapper = wrapper_of(instruction, floats);
  if (!block) {
    lines.push_back(fmt::format("  {}({}{});", wrapper, address, moved));
    return lines;
  }
  if (part) {
    lines.emplace_back("  u32 part;");
    lines.push_back(fmt::format("  {}({}, part);", wrapper, address));
    lines.push_back(fmt::format("  {}[{}] |= part << ({});", array, text.registers[0], text.shift));
  } else {
    lines.push_back(fmt::format("  u32 bits[{}];", text.registers.size()));
    lines.push_back(fmt::format("  {}({}{});", wrapper, address, taken));
    for (std::size_t k = 0; k < text.registers.size(); ++k)
      lines.push_back(fmt::format("  {}[{}] = __uint_as_float(bits[{}]);", array, text.registers[k], k));
  }
  lines.emplace_back("}");
  return lines;
}

std::optional<std::string> coordinate_text(const Layout& registers, std::size_t dimension) {
  const int threads = static_cast<int>(registers.extent(LayoutAxis::Warp)) * kWarpLanes,
            count = static_cast<int>(registers.extent(LayoutAxis::Register));
  const auto formula = BitFormula::of(threads, count, [&](int t, int e) -> std::int64_t {
    LayoutPlace place;
    place[LayoutAxis::Register] = e, place[LayoutAxis::Lane] = t % kWarpLanes, place[LayoutAxis::Warp] = t / kWarpLanes;
    const auto element = element_at(registers, place);
    return element ? (*element)[dimension] : -1;
  });
  if (!formula || !formula->splits()) return std::nullopt;
  std::string text = formula->thread_text();
  const std::string flipped = formula->flipped_text("e"), added = formula->added_text("e");
  if (!flipped.empty()) text = fmt::format("(({}) ^ {})", text.empty() ? "0" : text, flipped);
  if (!added.empty()) text = text.empty() ? added : fmt::format("{} + {}", text, added);
  if (formula->base() != 0) text = text.empty() ? std::to_string(formula->base()) : fmt::format("{} + {}", text, formula->base());
  return text.empty() ? "0" : text;
}

}  // namespace heddle::codegen

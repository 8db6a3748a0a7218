// Cells come from the layouts, phases from the access, alternatives from the plan and from what every kernel could use.
#include "core/answers/layout_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/analysis/bounds.h"
#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/base/suggest.h"
#include "core/layout/known.h"
#include "core/layout/notation.h"
#include "core/layout/reader.h"

namespace heddle {
namespace {

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string text_of(const std::optional<Layout>& layout, int bits) { return layout ? layout_text(*layout, bits) : std::string(); }

/// The words that a phase of one instruction wants, with the lane that wants each: ascending by word, then lane.
std::vector<std::pair<std::int64_t, int>> wanted_words(const Access& access, const WarpAccess& one, int phase) {
  std::vector<std::pair<std::int64_t, int>> wanted;
  const int first = phase * access.lanes_per_phase, last = std::min(first + access.lanes_per_phase, kWarpLanes);
  for (int lane = first; lane < last; ++lane) {
    const std::int64_t address = one.address[static_cast<std::size_t>(lane)];
    if (address < 0) continue;
    for (std::int64_t word = address / kBankBytes; word * kBankBytes < address + access.bytes; ++word) wanted.emplace_back(word, lane);
  }
  std::sort(wanted.begin(), wanted.end());
  return wanted;
}

/// Different words of each bank.
std::array<std::int32_t, kBanks> words_per_bank(const std::vector<std::pair<std::int64_t, int>>& wanted) {
  std::array<std::int32_t, kBanks> count{};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (i == 0 || wanted[i].first != wanted[i - 1].first) ++count[static_cast<std::size_t>(wanted[i].first % kBanks)];
  return count;
}

void add_registers(LayoutView& view) {
  const LayoutTable table = table_of(*view.registers);
  for (std::size_t i = 0; i < view.cells.size(); ++i) {
    LayoutCell& cell = view.cells[i];
    cell.warp = static_cast<std::int32_t>(table.first[i][LayoutAxis::Warp]);
    cell.lane = static_cast<std::int32_t>(table.first[i][LayoutAxis::Lane]);
    cell.reg = static_cast<std::int32_t>(table.first[i][LayoutAxis::Register]);
    cell.copies = table.copies[i];
  }
}

void add_memory(LayoutView& view, const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < view.cells.size(); ++i) {
    LayoutCell& cell = view.cells[i];
    cell.byte = offsets[i] * view.bits / 8;
    cell.bank = static_cast<std::int32_t>(cell.byte / kBankBytes % kBanks);
  }
}

void add_phases(LayoutView& view, const std::vector<std::int64_t>& offsets) {
  const Access& access = *view.access;
  const std::int64_t extent = view.memory->extent(LayoutAxis::Offset);
  // By offset; of memory that is nearly all padding a list of what is there.
  std::vector<std::int32_t> dense;
  std::unordered_map<std::int64_t, std::int32_t> sparse;
  if (extent <= std::max<std::int64_t>(1 << 16, 16 * std::ssize(offsets))) dense.assign(static_cast<std::size_t>(extent), -1);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto cell = static_cast<std::int32_t>(i);
    if (dense.empty())
      sparse[offsets[i]] = cell;
    else
      dense[static_cast<std::size_t>(offsets[i])] = cell;
  }
  const auto cell_at = [&](std::int64_t offset) {
    if (!dense.empty()) return dense[static_cast<std::size_t>(offset)];
    const auto found = sparse.find(offset);
    return found == sparse.end() ? -1 : found->second;
  };
  for (const WarpAccess& one : access.all)
    for (int phase = 0; phase < phases(access); ++phase) {
      const auto per_bank = words_per_bank(wanted_words(access, one, phase));
      const int first = phase * access.lanes_per_phase, last = std::min(first + access.lanes_per_phase, kWarpLanes);
      for (int lane = first; lane < last; ++lane) {
        const std::int64_t address = one.address[static_cast<std::size_t>(lane)];
        if (address < 0) continue;
        const std::int64_t begin = address * 8 / view.bits, end = std::min((address + access.bytes) * 8 / view.bits, extent);
        for (std::int64_t offset = begin; offset < end; ++offset) {
          const std::int32_t index = cell_at(offset);
          if (index < 0) continue;
          LayoutCell& cell = view.cells[static_cast<std::size_t>(index)];
          if (cell.issue >= 0) continue;
          cell.issue = one.issue;
          cell.phase = phase;
          cell.ways = per_bank[static_cast<std::size_t>(cell.bank)];
        }
      }
    }
}

/// Shape and texts of the layouts that are there.
void describe_tile(LayoutView& view) {
  const std::vector<std::int64_t>& shape = view.registers ? view.registers->shape : view.memory->shape;
  view.columns = shape.empty() ? 1 : shape.back();
  view.rows = elements_of(shape) / std::max<std::int64_t>(1, view.columns);
  view.registers_text = text_of(view.registers, view.bits);
  view.memory_text = text_of(view.memory, view.bits);
}

/// Cells of the layouts that are there, and of the access.
void fill_in(LayoutView& view) {
  view.cells.assign(static_cast<std::size_t>(view.rows * view.columns), {});
  if (view.registers) add_registers(view);
  if (!view.memory) return;
  const std::vector<std::int64_t> offsets = offsets_of(*view.memory);
  add_memory(view, offsets);
  if (view.access) add_phases(view, offsets);
}

/// The sentence, what it costs, and which alternative has fewer ways.
std::string sentence_of(const LayoutView& view) {
  const Access& access = *view.access;
  const int ways = worst_strip(access).ways;
  std::string text = why_text(access);
  const std::int64_t port = view.cost.port, least = view.cost.least;
  if (ways <= 1)
    return text + fmt::format(": {}, {}", count_of(phases(access), "phase"), count_of(phases(access), "cycle")) + " for an instruction";
  text += fmt::format("; {}-way: {} cycles instead of {}", ways, port, least);
  const LayoutAlternative* better = nullptr;
  for (const LayoutAlternative& other : view.alternatives)
    if (other.refused.empty() && !other.current && other.cost.known && other.cost.port < port &&
        (!better || other.cost.port < better->cost.port))
      better = &other;
  if (better) text += fmt::format("; {} with {} needs {}", better->layout, better->instruction.name, better->cost.port);
  return text;
}

Result<const Instruction*> instruction_of(const std::string& name, const Machine& machine) {
  std::vector<std::string> known;
  for (const Instruction& row : machine.instructions)
    if (is_shared_access(row.kind)) known.push_back(row.name);
  if (known.empty()) return Error::input(fmt::format("{} has no catalogue of instructions", machine.name), "h100, h200 and b200 have one");
  if (const Instruction* row = machine.find_instruction(name)) {
    if (is_shared_access(row->kind)) return row;
    return Error::input(fmt::format("{} does not move a tile between registers and shared memory by addresses of its lanes", row->name),
                        "those that do: " + list_of(known));
  }
  const std::string close = did_you_mean(name, known);
  return Error::input(fmt::format("{} has no instruction '{}'", machine.name, printable(shortened(name, 60))),
                      close.empty() ? "those that access shared memory: " + list_of(known, 40) : close);
}

/// What else the tile could lie in, for the same instruction: what every kernel could use.
std::vector<LayoutAlternative> usual_alternatives(const LayoutView& view, const Instruction& instruction) {
  const auto row = [&](const Layout& memory, const std::string& text) {
    LayoutAlternative alternative;
    alternative.layout = text;
    alternative.instruction.name = instruction.name;
    const AccessResult moved = access_of(*view.registers, memory, view.bits, instruction);
    if (moved.access)
      alternative.cost = cost_of_access(*view.registers, memory, view.bits, instruction);
    else
      alternative.refused = moved.refusal;
    alternative.bytes = ceil_div(memory.extent(LayoutAxis::Offset) * view.bits, 8);
    return alternative;
  };
  std::vector<LayoutAlternative> all{row(*view.memory, view.memory_text)};
  all.front().current = true;
  const auto add = [&](const std::optional<Layout>& memory) {
    if (!memory || same_places(*memory, *view.memory)) return;
    const std::string text = layout_text(*memory, view.bits);
    for (const LayoutAlternative& other : all)
      if (other.layout == text) return;
    all.push_back(row(*memory, text));
  };
  if (view.memory->shape.size() != 2) return all;
  const std::int64_t rows = view.rows, columns = view.columns;
  for (const int swizzle : {128, 64, 32}) add(panels_layout(rows, columns, view.bits, swizzle));
  add(rows_layout(rows, columns));
  if (rows * (columns + 128 / view.bits) <= kMostLayoutElements) add(rows_layout(rows, columns, columns + 128 / view.bits));
  return all;
}

struct Met {
  const OpPlan* plan;
  const OpAccess* access;
  std::string op;
};

/// All accesses of a plan, in the order of the kernel's ops.
std::vector<Met> accesses_in_order(const Kernel& kernel, const LayoutPlan& plan) {
  std::vector<Met> met;
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list) {
      const OpPlan* found = plan.find(op.name);
      if (!found) continue;
      // One name may stand in two lists; its plan is one.
      if (std::any_of(met.begin(), met.end(), [&](const Met& other) { return other.op == op.name; })) continue;
      for (const OpAccess& access : found->accesses) met.push_back({found, &access, op.name});
    }
  return met;
}

/// Least II with each alternative; 0 where the kernel cannot be resolved with it.
std::vector<Cycle> bounds_of(const LayoutView& view, const Instance& instance, const std::string& memory) {
  std::vector<Cycle> bounds;
  for (const LayoutAlternative& alternative : view.alternatives) {
    bounds.push_back(0);
    if (!alternative.refused.empty()) continue;
    if (alternative.current) {
      bounds.back() = instance.bounds().min_ii();
      continue;
    }
    LayoutChoices choices = instance.choices();
    choices.layouts[memory] = alternative.layout;
    choices.instructions[view.op] = alternative.instruction;
    if (const Result<Instance> other = with(instance, choices)) bounds.back() = other->bounds().min_ii();
  }
  return bounds;
}

std::string shape_text(const std::vector<std::int64_t>& shape, DType dtype) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text + (text.empty() ? "" : " ") + to_string(dtype);
}

/// Extents of a kernel's value; 0 where one cannot be evaluated, which resolve() has refused before.
std::vector<std::int64_t> extents_of(const TileValue& value, const Scope& params) {
  std::vector<std::int64_t> shape;
  for (const Expr& extent : value.shape) {
    const auto number = extent.evaluate(params);
    shape.push_back(number ? *number : 0);
  }
  return shape;
}

}  // namespace

int phases(const Access& access) {
  // ldmatrix.x1 asks eight lanes for addresses, and no others.
  int last = 0;
  for (int lane = 0; lane < kWarpLanes && !access.all.empty(); ++lane)
    if (access.all.front().address[static_cast<std::size_t>(lane)] >= 0) last = lane;
  return last / std::max(1, access.lanes_per_phase) + 1;
}

BankStrip bank_strip(const Access& access, std::size_t one, int phase) {
  const WarpAccess& warp = access.all[one];
  BankStrip strip;
  strip.warp = warp.warp;
  strip.issue = warp.issue;
  strip.phase = phase;
  strip.first_lane = phase * access.lanes_per_phase;
  strip.lanes = std::min(access.lanes_per_phase, kWarpLanes - strip.first_lane);
  for (const auto& [word, lane] : wanted_words(access, warp, phase)) {
    std::vector<ServedWord>& bank = strip.banks[static_cast<std::size_t>(word % kBanks)];
    if (bank.empty() || bank.back().word != word) bank.push_back({word, {}});
    bank.back().lanes.push_back(lane);
  }
  for (std::vector<ServedWord>& bank : strip.banks) {
    std::stable_sort(bank.begin(), bank.end(), [](const ServedWord& a, const ServedWord& b) { return a.lanes.front() < b.lanes.front(); });
    strip.ways = std::max(strip.ways, static_cast<int>(bank.size()));
  }
  return strip;
}

BankStrip worst_strip(const Access& access) {
  std::size_t worst = 0;
  int worst_phase = 0, ways = 0;
  for (std::size_t one = 0; one < access.all.size(); ++one)
    for (int phase = 0; phase < phases(access); ++phase) {
      const auto per_bank = words_per_bank(wanted_words(access, access.all[one], phase));
      const int most = *std::max_element(per_bank.begin(), per_bank.end());
      if (most > ways) ways = most, worst = one, worst_phase = phase;
    }
  return access.all.empty() ? BankStrip{} : bank_strip(access, worst, worst_phase);
}

Result<LayoutView> view_of(const LayoutQuestion& question, const Machine& machine) {
  LayoutView view;
  view.title = printable(shortened(question.text, 120));
  view.dtype = question.dtype;
  view.bits = bits_of(question.dtype);
  const LayoutContext context{question.shape, view.bits};
  Error error;
  const auto keep = [&](const Error& more) { error.faults.insert(error.faults.end(), more.faults.begin(), more.faults.end()); };
  const auto take = [&](Layout layout) {
    std::optional<Layout>& side = layout.in_memory() ? view.memory : view.registers;
    if (side)
      keep(Error::input(
          fmt::format("both layouts are of {}", layout.in_memory() ? "memory" : "registers"),
          "the other side of an access is the one of registers where the first is of memory, and of memory where it is of registers"));
    else
      side = std::move(layout);
  };
  if (question.layout) {
    if (std::vector<Fault> faults = faults_of(*question.layout); faults.empty())
      take(*question.layout);
    else
      keep({ErrorKind::Input, std::move(faults)});
  } else if (Result<Layout> layout = parse_layout(question.text, context, "layout")) {
    take(*std::move(layout));
  } else {
    keep(layout.error());
  }
  if (!question.with.empty()) {
    LayoutContext other = context;
    if (other.shape.empty() && (view.registers || view.memory)) other.shape = (view.registers ? view.registers : view.memory)->shape;
    if (Result<Layout> layout = parse_layout(question.with, other, "other layout"))
      take(*std::move(layout));
    else
      keep(layout.error());
  }
  const Instruction* instruction = nullptr;
  if (!question.access.empty()) {
    if (const auto row = instruction_of(question.access, machine))
      instruction = *row;
    else
      keep(row.error());
  }
  if (!error.faults.empty()) return error;
  if (view.registers && view.memory && view.registers->shape != view.memory->shape)
    return Error::input(fmt::format("the layouts are of different tiles: {} and {}", shape_text(view.registers->shape, view.dtype),
                                    shape_text(view.memory->shape, view.dtype)),
                        "give both with one shape");
  if (instruction && view.memory && !view.registers) {
    Result<Layout> registers = registers_for(*view.memory, view.bits, *instruction);
    if (!registers) return registers.error();
    view.registers = *std::move(registers);
  }
  describe_tile(view);
  if (instruction) {
    view.instruction = instruction->name;
    view.assumed = instruction->assumed;
    if (!view.memory)
      return Error::about("layout in memory", fmt::format("{} needs a tile in memory, and this layout is of registers", instruction->name));
    AccessResult moved = access_of(*view.registers, *view.memory, view.bits, *instruction);
    if (!moved.access) return Error::input(moved.refusal);
    view.access = std::move(moved.access);
    view.cost = cost_of_access(*view.registers, *view.memory, view.bits, *instruction);
    view.alternatives = usual_alternatives(view, *instruction);
  }
  fill_in(view);
  view.why = view.access      ? sentence_of(view)
             : !view.memory   ? "in registers only: no banks to meet in"
             : view.registers ? "no instruction is named that moves it from one to the other"
                              : "no instruction is named that reads or writes it";
  return view;
}

Result<Layout> registers_for(const Layout& memory, int bits, const Instruction& instruction) {
  const auto refuse = [&](const std::string& why) -> Error { return Error::input(fmt::format("{} {}", instruction.name, why)); };
  const std::size_t rank = memory.shape.size();
  if (rank != 1 && rank != 2) return refuse("is shown of tiles of one or two dimensions");
  const std::int64_t columns = memory.shape.back(), rows = rank == 2 ? memory.shape.front() : 1;
  // Row and column by which each bit of a register's and of a lane's number moves.
  using Move = std::pair<std::int64_t, std::int64_t>;
  std::vector<Move> registers, lanes;
  std::int64_t high = 1, wide = 1;  // of what one instruction moves
  if (instruction.kind == InstructionKind::MatrixLoad || instruction.kind == InstructionKind::MatrixStore) {
    if (instruction.transposed && bits != 16) return refuse(fmt::format("moves elements of 16 bits, and these have {}", bits));
    if (instruction.fragments.empty()) return refuse("has no fragment in the machine's file");
    const Fragment& fragment = instruction.fragments.front();
    for (std::int64_t move = 1; move * bits < 16; move *= 2) registers.emplace_back(0, move);
    const auto add = [&](const std::vector<std::vector<std::int64_t>>& bases, std::vector<Move>& moves) {
      for (const std::vector<std::int64_t>& basis : bases) {
        if (basis.size() != 2) return false;
        if (basis[1] * 16 % bits != 0) {
          if (basis[0] == 0 && basis[1] * 16 < bits && bits == 32) continue;  // inside one element
          return false;
        }
        moves.emplace_back(basis[0], basis[1] * 16 / bits);
      }
      return true;
    };
    if (!add(fragment.registers, registers) || !add(fragment.lanes, lanes))
      return refuse(fmt::format("cannot move elements of {} bits", bits));
    for (const auto* moves : {&registers, &lanes})
      for (const auto& [row, column] : *moves) {
        while (high <= row) high *= 2;
        while (wide <= column) wide *= 2;
      }
    // Further matrices: below the first where the tile goes on there, then beside them, as a product's fragment has them.
    for (int matrices = 1; matrices < instruction.matrices; matrices *= 2) {
      const bool below = high < 16 && rows % (high * 2) == 0;
      registers.emplace_back(below ? high : 0, below ? 0 : wide);
      (below ? high : wide) *= 2;
    }
  } else {
    const std::int64_t each = std::int64_t{instruction.bytes} * 8 / bits;
    if (each < 1) return refuse(fmt::format("moves {}, and an element has {} bits", count_of(instruction.bytes, "byte"), bits));
    if (columns % each != 0)
      return refuse(fmt::format("moves {} side by side, and rows of {} are no multiple of it", count_of(each, "element"), columns));
    for (std::int64_t move = 1; move < each; move *= 2) registers.emplace_back(0, move);
    wide = each;
    for (std::size_t bit = 0; bit < 5; ++bit) {
      if (columns % (wide * 2) == 0 && high == 1)
        lanes.emplace_back(0, wide), wide *= 2;
      else
        lanes.emplace_back(high, 0), high *= 2;
    }
  }
  if (rows % high != 0 || columns % wide != 0)
    return refuse(fmt::format("moves {} x {} elements at a time, and the tile of {} x {} is no multiple of it", high, wide, rows, columns));
  Layout layout;
  layout.shape = memory.shape;
  const auto coordinates = [&](const Move& move) { return rank == 1 ? Coordinates{move.second} : Coordinates{move.first, move.second}; };
  for (const Move& move : registers) layout.of(LayoutAxis::Register).push_back(coordinates(move));
  for (const Move& move : lanes) layout.of(LayoutAxis::Lane).push_back(coordinates(move));
  std::int64_t pitch = std::int64_t{1} << registers.size();
  if (columns > wide) layout.repeats.push_back({LayoutAxis::Register, columns / wide, pitch, rank - 1, wide});
  pitch *= columns / wide;
  if (rows > high) layout.repeats.push_back({LayoutAxis::Register, rows / high, pitch, 0, high});
  return canonical(layout);
}

Result<LayoutView> view_of(const Instance& instance, const std::string& value, const std::string& op, bool alternatives) {
  const Kernel& kernel = instance.kernel();
  const Machine& machine = instance.machine();
  const Problem& problem = instance.problem();
  HEDDLE_ASSERT(problem.layouts, "view_of() of a problem without a plan");
  const LayoutPlan& plan = *problem.layouts;
  const auto found = std::find_if(kernel.values.begin(), kernel.values.end(), [&](const TileValue& v) { return v.name == value; });
  if (found == kernel.values.end()) {
    const std::vector<std::string> known = names_of(kernel.values);
    const std::string close = did_you_mean(value, known);
    return Error::input(fmt::format("{} has no value '{}'", kernel.name, printable(shortened(value, 60))),
                        close.empty() ? "its values: " + list_of(known) : close);
  }
  const auto index = static_cast<std::size_t>(found - kernel.values.begin());
  std::vector<Met> met;
  for (const Met& one : accesses_in_order(kernel, plan))
    if (one.access->value == index || (one.access->held && one.access->registers == index)) met.push_back(one);
  // Threads come before copies and products, whose lanes there is nothing to see of.
  const Met* access = nullptr;
  const auto rank = [&](const Met& one) {
    // Of a change of layout, the side on which the value's own registers are.
    return !one.access->held ? 0 : one.access->scratch && one.access->registers != index ? 1 : 2;
  };
  for (const Met& one : met)
    if ((op.empty() || one.op == op) && (!access || rank(*access) < rank(one))) access = &one;
  if (!op.empty() && !access) {
    std::vector<std::string> known;
    for (const Met& one : met) known.push_back(one.op);
    return Error::input(fmt::format("no op '{}' moves {} between registers and shared memory", printable(shortened(op, 60)), value),
                        known.empty() ? "no op does" : "those that do: " + list_of(known));
  }
  LayoutView view;
  view.value = value;
  view.title = fmt::format("{} of {}", value, kernel.name);
  view.dtype = found->dtype;
  view.bits = bits_of(found->dtype);
  const ValuePlan& own = plan.values[index];
  if (access && access->access->scratch) {
    // As it passes, which is after it was converted.
    view.dtype = kernel.values[access->access->value].dtype;
    view.bits = access->access->bits;
  }
  if (!access) {
    if (!own.layout)
      return Error::input(fmt::format("the layout of {} is not known: it {}", value,
                                      own.unknown.empty() ? std::string("lies in ") + to_string(found->space) + " memory" : own.unknown),
                          fmt::format("heddle layout {} {} lists what is known", kernel.name, problem.machine));
    (own.layout->in_memory() ? view.memory : view.registers) = *own.layout;
    describe_tile(view);
    fill_in(view);
    view.why = "no op moves it between registers and shared memory";
    return view;
  }
  view.op = access->op;
  view.value_in_memory = access->access->value == index && !access->access->scratch;
  if (access->access->held && !access->access->scratch)
    view.other = kernel.values[access->access->value == index ? access->access->registers : access->access->value].name;
  if (access->access->held) view.registers = *access->access->held;
  if (const auto& memory = plan.memory_of(*access->access)) view.memory = *memory;
  view.cost = access->access->cost;
  view.instruction = choice_text(access->plan->instruction);
  // The tile is the value's; what lies on the other side in another shape is not drawn.
  for (std::optional<Layout>* side : {&view.registers, &view.memory})
    if (*side && own.layout && (*side)->shape != own.layout->shape) side->reset();
  if (!view.registers && !view.memory)
    return Error::input(fmt::format("the layout of {} is not known: it {}", value, own.unknown.empty() ? "has none" : own.unknown),
                        fmt::format("heddle layout {} {} lists what is known", kernel.name, problem.machine));
  const Instruction* instruction = access->access->by.get();
  if (alternatives) view.alternatives = alternatives_of(kernel, problem.params, machine, plan, view.op);
  describe_tile(view);
  if (view.registers && view.memory && instruction) {
    view.assumed = instruction->assumed;
    view.instruction = choice_text({instruction->name, access->access->exchange});
    AccessResult moved = access_of(*view.registers, *view.memory, access->access->bits, *instruction, access->access->exchange);
    view.access = std::move(moved.access);
    view.why = moved.refusal;
  } else if (!access->plan->unknown.empty()) {
    view.why = "how it moves is not known: " + access->plan->unknown;
  } else if (!access->access->held) {
    view.why = fmt::format("no thread reads or writes it by {}: a copy engine or the tensor cores do", view.op);
  } else {
    view.why = "its instruction is not known";
  }
  fill_in(view);
  if (view.access) view.why = sentence_of(view);
  if (alternatives) view.bounds = bounds_of(view, instance, kernel.values[access->access->value].name);
  return view;
}

std::string choice_text(const InstructionChoice& choice) {
  if (!choice.exchange.used()) return choice.name;
  return fmt::format("{}, lane bit {} exchanging register bit {}", choice.name, choice.exchange.lane, choice.exchange.register_bit);
}

std::vector<LayoutListRow> layout_list(const Kernel& kernel, const Problem& problem) {
  HEDDLE_ASSERT(problem.layouts, "layout_list() of a problem without a plan");
  const LayoutPlan& plan = *problem.layouts;
  const std::vector<Met> met = accesses_in_order(kernel, plan);
  std::vector<LayoutListRow> rows;
  for (std::size_t v = 0; v < kernel.values.size(); ++v) {
    const TileValue& value = kernel.values[v];
    LayoutListRow row;
    row.value = value.name;
    row.space = to_string(value.space);
    row.shape = shape_text(extents_of(value, problem.params), value.dtype);
    row.layout = plan.values[v].text;
    row.unknown = plan.values[v].unknown;
    const std::size_t before = rows.size();
    for (const Met& one : met) {
      if (one.access->value != v) continue;
      rows.push_back(row);
      rows.back().op = one.op;
      rows.back().choice = one.plan->instruction;
      if (one.access->by) rows.back().choice = {one.access->by->name, one.access->exchange};
      rows.back().instruction = choice_text(rows.back().choice);
      rows.back().cost = one.access->cost;
      rows.back().accessed = true;
      rows.back().charged = one.access->charged;
      if (rows.back().unknown.empty()) rows.back().unknown = one.plan->unknown;
    }
    // Products, loads and stores of global memory have an instruction too, and no lanes that meet.
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& op : *list) {
        const OpPlan* known = plan.find(op.name);
        if (!known || !known->accesses.empty() || known->instruction.name.empty() || op.outputs.empty() || op.outputs.front() != value.name)
          continue;
        if (std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(before), rows.end(),
                        [&](const LayoutListRow& r) { return r.op == op.name; }))
          continue;
        rows.push_back(row);
        rows.back().op = op.name;
        rows.back().choice = known->instruction;
        rows.back().instruction = choice_text(known->instruction);
      }
    if (rows.size() == before) rows.push_back(row);
  }
  return rows;
}

}  // namespace heddle

// Each of the four warps of a group issues the same product; it begins when the last of them has, knows what all four knew, and ends for
// all four at once. Its operands are read by the group's queue of products, whose epochs wgmma.wait_group lets a warp know.
#include "ptx/units/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>

#include "ptx/judge/reference.h"
#include "ptx/units/descriptor.h"
#include "ptx/units/lane_reader.h"

namespace heddle::ptx {
namespace {

constexpr int kWarpsOfGroup = 4;
constexpr int kRows = 64;

/// What the text says of a product, read once.
struct WgmmaForm {
  int n = 0, k = 0, bits = 16;
  std::string_view types[3];  ///< of D, A, B
  bool a_in_registers = false, a_transposed = false, b_transposed = false;
  std::vector<RegisterId> d, a, all;  ///< registers: accumulators, operand A, both
};

struct GroupProduct {
  int issued_by = 0;  ///< warps so far
  int pc = -1;
  Time begin = 0, end = -1;
  Time issued = 0;  ///< by the group's first warp
  std::uint64_t a = 0, b = 0;
  KnownClocks known;
  std::vector<FragmentId> waiting;
};

struct WarpGroup {
  Component component = 0;
  Epoch first = 1;  ///< of products[0]
  std::deque<GroupProduct> products;
};

struct WgmmaUnit : UnitState {
  std::vector<WarpGroup> groups;
  std::vector<Time> tensor_free;  ///< by CTA
  std::unordered_map<int, WgmmaForm> forms;
  Footprints footprints;
  std::map<PtxProductSize, Time> times;
};

struct WarpProducts : UnitState {
  Epoch issued = 0, over = 0;
  bool fenced = false, open = false;
  int pc = -1;
  std::deque<Epoch> groups;                                  ///< the last product of each committed group, oldest first
  std::deque<std::pair<Epoch, const WgmmaForm*>> in_flight;  ///< whose registers are in use
};

WgmmaUnit& unit_of(ClusterRun& run) {
  if (run.product_unit == nullptr) {
    auto made = std::make_unique<WgmmaUnit>();
    const int per_cta = (run.warps_per_cta() + kWarpsOfGroup - 1) / kWarpsOfGroup;
    for (int cta = 0; cta < run.cluster_size(); ++cta)
      for (int group = 0; group < per_cta; ++group) {
        const int warp = cta * run.warps_per_cta() + group * kWarpsOfGroup;
        made->groups.emplace_back().component =
            run.components.add(fmt::format("products of {} to {}", warp_reference(warp), run.warp_name(warp + kWarpsOfGroup - 1)));
      }
    made->tensor_free.resize(static_cast<std::size_t>(run.cluster_size()));
    run.product_unit = std::move(made);
  }
  return static_cast<WgmmaUnit&>(*run.product_unit);
}

WarpGroup& group_of(ClusterRun& run, const Warp& warp) {
  const int per_cta = (run.warps_per_cta() + kWarpsOfGroup - 1) / kWarpsOfGroup;
  return unit_of(run).groups[static_cast<std::size_t>(warp.cta * per_cta + warp.in_cta / kWarpsOfGroup)];
}

WarpProducts& products_of(Warp& warp) {
  if (warp.products == nullptr) warp.products = std::make_unique<WarpProducts>();
  return static_cast<WarpProducts&>(*warp.products);
}

int number_in(std::string_view text, std::size_t at) {
  int value = 0;
  if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// "m64n128k16", types, and operands: D, A, B, scale-d, two signs, and what is transposed.
WgmmaForm read_form(const PtxInstruction& instruction) {
  WgmmaForm form;
  std::size_t type = 3;
  for (const std::string_view word : instruction.words) {
    if (word.starts_with("m64n") && word.find('k') != std::string_view::npos) {
      form.n = number_in(word, 4);
      form.k = std::min(number_in(word, word.find('k') + 1), 1 << 12);  // a damaged text may say any number
      type = 0;
    } else if (type < 3 && word != "satfinite") {
      form.types[type++] = word;
    }
  }
  form.bits = form.types[2] == "b1" ? 1 : form.types[2] == "tf32" ? 32 : bits_of(scalar_of(form.types[2]));
  const auto& operands = instruction.operands;
  if (operands.size() < 3) return form;
  form.a_in_registers = operands[1].kind == PtxOperand::Kind::Vector;
  registers_in(operands[0], form.d);
  if (form.a_in_registers) registers_in(operands[1], form.a);
  form.all = form.d;
  form.all.insert(form.all.end(), form.a.begin(), form.a.end());
  const auto says = [&](std::size_t index) { return index < operands.size() && (operands[index].immediate & 1) != 0; };
  form.a_transposed = !form.a_in_registers && operands.size() >= 8 && says(6);
  form.b_transposed = says(form.a_in_registers ? 6 : 7);
  return form;
}

/// What is not allowed about it; "": nothing (PTX ISA 9.7.15.2, 9.7.15.5.2: shapes and types of wgmma.mma_async).
std::string wrong_form(const WgmmaForm& form) {
  const auto [d, a, b] = form.types;
  const auto both = [&](std::string_view one, std::string_view other) { return (a == one || a == other) && (b == one || b == other); };
  const bool small = both("e4m3", "e5m2"), integers = both("s8", "u8") || both("b1", "b1");
  const bool operands = (a == b && (a == "f16" || a == "bf16" || a == "tf32")) || small || integers;
  if (!operands) return fmt::format("wgmma does not multiply {} by {}", a, b);
  const bool result = integers ? d == "s32" : d == "f32" || (d == "f16" && (a == "f16" || small));
  if (!result) return fmt::format("a product of {} by {} has no sums of {}", a, b, d);
  if (form.k * form.bits != 256) return fmt::format("a product of {} by {} has a depth of {}, not {}", a, b, 256 / form.bits, form.k);
  const bool columns = form.n >= 8 && form.n <= 256 && form.n % 8 == 0 && (!integers || form.n <= 24 || form.n % 16 == 0);
  if (!columns) return fmt::format("{} columns: wgmma has 8 to 256 in steps of 8{}", form.n, integers ? ", of integers 16 from 32 on" : "");
  const auto registers = static_cast<std::size_t>(d == "f16" ? form.n / 4 : form.n / 2);
  if (form.d.size() != registers)
    return fmt::format("{} registers of results, where {} columns of {} take {}", form.d.size(), form.n, d, registers);
  if (form.a_in_registers && form.a.size() != 4) return fmt::format("{} registers of operand A, which takes 4", form.a.size());
  return "";
}

const WgmmaForm& form_of(ClusterRun& run, const PtxInstruction& instruction) {
  const auto [found, is_new] = unit_of(run).forms.try_emplace(run.pc_of(instruction));
  if (is_new) found->second = read_form(instruction);
  return found->second;
}

/// The oldest register of A that a product in flight still writes; none: invalid.
RegisterId written_in_flight(const Warp& warp, const WarpProducts& products, const WgmmaForm& form) {
  for (const RegisterId reg : form.a) {
    const std::uint32_t by = warp.in_flight[reg.index()];
    if (by == 0) continue;
    for (const auto& [epoch, of] : products.in_flight)
      if (epoch == by && std::find(of->d.begin(), of->d.end(), reg) != of->d.end()) return reg;
  }
  return RegisterId();
}

void judge_registers(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, const WgmmaForm& form) {
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  const auto& products = static_cast<const WarpProducts&>(*warp.products);
  if (!products.fenced)
    run.find(CheckRule::MissingProductFence, fragment, instruction,
             fmt::format("{} has issued no wgmma.fence before its first product", warp_reference(warp.index)));
  else if (const int at = run.touched_since_fence(fragment, instruction, form.all); at >= 0)
    run.find(CheckRule::MissingProductFence, fragment, instruction,
             fmt::format("registers of the product were touched at {} with no wgmma.fence since", place_reference(at)), at);
  if (const RegisterId reg = written_in_flight(warp, products, form); reg.valid())
    run.find(
        CheckRule::RegisterInFlight, fragment, instruction,
        fmt::format("operand A is {}, which an earlier product still writes: no wgmma.wait_group between", register_reference(reg.index())),
        static_cast<std::int64_t>(reg.index()));
}

void mark_in_flight(Warp& warp, WarpProducts& products, const WgmmaForm& form, std::size_t registers) {
  if (warp.in_flight.size() < registers) warp.in_flight.resize(registers);
  for (const RegisterId reg : form.all) {
    if (warp.in_flight[reg.index()] == 0) ++warp.in_flight_count;
    warp.in_flight[reg.index()] = products.issued;
  }
  products.in_flight.emplace_back(products.issued, &form);
}

void release_registers(Warp& warp, WarpProducts& products) {
  while (!products.in_flight.empty() && products.in_flight.front().first <= products.over) {
    const auto& [epoch, form] = products.in_flight.front();
    for (const RegisterId reg : form->all)
      if (std::uint32_t& by = warp.in_flight[reg.index()]; by != 0 && by <= epoch) {
        by = 0;
        --warp.in_flight_count;
      }
    products.in_flight.pop_front();
  }
}

/// An operand in shared memory is read by the queue of products.
void read_operand(const UnitIssue& issue, const MatrixPlace& place, const MatrixExtent& extent, const ShadowAccess& access,
                  const KnownClocks& known) {
  ClusterRun& run = issue.run;
  const std::vector<ByteRange>& ranges = unit_of(run).footprints.of(place, extent);
  if (ranges.empty()) return;
  if (ranges.back().end > run.shared_bytes()) {
    issue.find(CheckRule::OutOfShared,
               fmt::format("{} reaches to byte {}, beyond the {}", access.what, ranges.back().end, run.shared_text()));
    return;
  }
  const int cta = issue.warp().cta;
  run.shadows[static_cast<std::size_t>(cta)].read(ranges, access, known);
}

/// All four warps have issued it.
void begin_product(const UnitIssue& issue, WarpGroup& group, GroupProduct& product, Epoch epoch) {
  auto& [run, fragment, instruction] = issue;
  const WgmmaForm& form = form_of(run, instruction);
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  WgmmaUnit& unit = unit_of(run);
  ShadowAccess access{group.component, epoch, Proxy::Async, run.pc_of(instruction), warp.index, "product's operand B"};
  access.cycle = fragment.time / kCycle;
  const int k_bytes = std::max(form.k * form.bits / 8, 1);
  read_operand(issue, wgmma_place(product.b, form.b_transposed), {form.n, k_bytes, form.bits}, access, product.known);
  access.what = "product's operand A";
  if (!form.a_in_registers)
    read_operand(issue, wgmma_place(product.a, form.a_transposed), {kRows, k_bytes, form.bits}, access, product.known);
  const PtxProductSize size{kRows, form.n, form.k, form.bits, form.a_in_registers};
  const auto [time, is_new] = unit.times.try_emplace(size);
  if (is_new) time->second = product_time(run.costs, size);
  Time& free = unit.tensor_free[static_cast<std::size_t>(warp.cta)];
  const Time start = std::max(product.begin, free);
  free = start + time->second;
  product.end = free + run.costs.product_drain;
  product.known = {};
  if (RunEvent* event = run.event(EventKind::Product, fragment, instruction)) {
    event->warp = static_cast<std::int16_t>(warp.index - warp.in_cta % kWarpsOfGroup);
    event->issued = product.issued;
    event->begin = start;
    event->end = free;
    event->rows = kRows;
    event->columns = form.n;
    event->depth = form.k;
    event->operand_a = form.a_in_registers ? 0 : product.a;
    event->operand_b = product.b;
  }
  run.wake(product.waiting, std::max(fragment.time, run.now()));
  product.waiting.clear();
}

/// This warp's part of the group's product number `epoch`.
GroupProduct& join_product(const UnitIssue& issue, WarpGroup& group, Epoch epoch, std::uint64_t a, std::uint64_t b) {
  auto& [run, fragment, instruction] = issue;
  while (group.first + group.products.size() <= epoch) group.products.emplace_back();
  GroupProduct& product = group.products[epoch - group.first];
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  if (product.issued_by++ == 0) {
    product.pc = run.pc_of(instruction);
    product.a = a;
    product.b = b;
    product.known = warp.known;
  } else {
    product.known.meet(warp.known);
    if (product.pc != run.pc_of(instruction))
      run.find(CheckRule::NotConverged, fragment, instruction,
               fmt::format("warps of one group issue different products: this one and that of {}", place_reference(product.pc)),
               product.pc);
    else if (product.a != a || product.b != b)
      run.find(CheckRule::ProductShape, fragment, instruction, "warps of one group give different matrix descriptors for one product");
  }
  product.begin = std::max(product.begin, fragment.time);
  if (warp.in_cta % kWarpsOfGroup == 0) product.issued = fragment.time;
  return product;
}

}  // namespace

ActionEnd wgmma_fence(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  products_of(run.warp_of(fragment)).fenced = true;
  run.fence_registers(fragment);
  run.event(EventKind::ProductFence, fragment, instruction);
  return ActionEnd::Go;
}

ActionEnd wgmma_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  const WgmmaForm& form = form_of(run, instruction);
  if (instruction.operands.size() < 4) {
    run.stop(instruction, fmt::format("{} without its operands", instruction.mnemonic));
    return ActionEnd::Go;
  }
  if (const std::string wrong = wrong_form(form); !wrong.empty()) {
    run.find(CheckRule::ProductShape, fragment, instruction, wrong);
    run.stop(instruction, fmt::format("{} is no product of the PTX ISA", instruction.mnemonic));
    return ActionEnd::Go;
  }
  std::optional<std::uint64_t> a = 0;
  if (!form.a_in_registers) a = run.one_value(fragment, instruction.operands[1], lanes, instruction, "the descriptor of operand A");
  if (!a) return ActionEnd::Go;
  const auto b = run.one_value(fragment, instruction.operands[2], lanes, instruction, "the descriptor of operand B");
  if (!b) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  WarpProducts& products = products_of(warp);
  warp.in_flight.resize(std::max(warp.in_flight.size(), run.function.registers.size()));
  judge_registers(run, fragment, instruction, form);
  ++products.issued;
  products.open = true;
  products.pc = run.pc_of(instruction);
  mark_in_flight(warp, products, form, run.function.registers.size());
  forget_results(run, fragment, instruction, instruction.operands[0], lanes);
  WarpGroup& group = group_of(run, warp);
  GroupProduct& product = join_product({run, fragment, instruction}, group, products.issued, *a, *b);
  fragment.time += run.costs.product_issue;
  if (product.issued_by == kWarpsOfGroup) begin_product({run, fragment, instruction}, group, product, products.issued);
  return ActionEnd::Go;
}

ActionEnd wgmma_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  WarpProducts& products = products_of(run.warp_of(fragment));
  products.groups.push_back(products.issued);
  products.open = false;
  run.event(EventKind::ProductCommit, fragment, instruction);
  return ActionEnd::Go;
}

ActionEnd wgmma_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  const auto left = instruction.operands.empty()
                        ? std::nullopt
                        : run.one_value(fragment, instruction.operands[0], lanes, instruction, "the number of groups");
  if (!left) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  WarpProducts& products = products_of(warp);
  if (*left == 0 && products.open && !run.findings.again(CheckRule::NotCommitted, run.pc_of(instruction), products.pc))
    run.find(CheckRule::NotCommitted, fragment, instruction,
             fmt::format("waits for all products, of which that of {} is in no group: no wgmma.commit_group came after it",
                         place_reference(products.pc)),
             products.pc);
  const Epoch last = products.groups.size() > *left ? products.groups[products.groups.size() - *left - 1] : 0;
  if (last > products.over) {
    WarpGroup& group = group_of(run, warp);
    GroupProduct& product = group.products[last - group.first];
    if (product.end < 0) {
      product.waiting.push_back(fragment.id);
      fragment.awaits = {WarpFragment::Awaits::What::Product, last, false, product.issued_by, run.pc_of(instruction), fragment.time};
      return ActionEnd::Again;
    }
    fragment.time = std::max(fragment.time, product.end);
    products.over = last;
    warp.known.seen.raise(group.component, last);
    release_registers(warp, products);
  }
  while (products.groups.size() > *left) products.groups.pop_front();
  RunEvent* event = run.event(EventKind::ProductWait, fragment, instruction);
  fragment.time += 4 * kCycle;
  if (event != nullptr) {
    event->end = fragment.time;
    event->amount = static_cast<std::int64_t>(*left);
  }
  return ActionEnd::Go;
}

void judge_products_at_exit(ClusterRun& run, const Warp& warp) {
  if (warp.products == nullptr) return;
  const auto& products = static_cast<const WarpProducts&>(*warp.products);
  if (!products.open) return;
  run.findings.add(
      {.rule = CheckRule::NotCommitted,
       .pc = products.pc,
       .warp = warp.index,
       .sentence = fmt::format("{} ends with a product that is in no group: nothing can wait for it", warp_reference(warp.index)),
       .related = {},
       .cycle = run.now() / kCycle},
      warp.index);
}

}  // namespace heddle::ptx

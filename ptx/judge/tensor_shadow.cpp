#include "ptx/judge/tensor_shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/judge/access_states.h"
#include "ptx/judge/reference.h"

namespace heddle::ptx {
namespace {

constexpr int kSixteens = kTensorLanes / 16;
constexpr int kLeastColumns = 32;

bool good_columns(int columns) { return columns >= kLeastColumns && columns <= kTensorColumns && (columns & (columns - 1)) == 0; }

std::string columns_said(int column, int columns) { return fmt::format("columns {} to {}", column, column + columns - 1); }

}  // namespace

struct TensorShadow::Inside {
  const Components& components;
  std::vector<StateId> cells;  ///< [sixteens][columns]
  AccessStates states;

  std::span<StateId> row(int sixteen, const TensorCells& where) {
    return std::span(cells).subspan(static_cast<std::size_t>(sixteen * kTensorColumns + where.column),
                                    static_cast<std::size_t>(where.columns));
  }
};

TensorShadow::TensorShadow(const Components& components, Findings& findings)
    : findings_(&findings), inside_(new Inside{components, std::vector<StateId>(kSixteens * kTensorColumns), {}}) {}
TensorShadow::~TensorShadow() = default;
TensorShadow::TensorShadow(TensorShadow&& other) noexcept = default;

void TensorShadow::find(CheckRule rule, const Barriers::By& by, std::string sentence, std::int64_t other,
                        std::vector<RelatedPlace> related) {
  findings_->add({rule, by.pc, by.warp, std::move(sentence), std::move(related), by.cycle}, other);
}

std::optional<int> TensorShadow::allocate(int columns, const Barriers::By& by) {
  if (!good_columns(columns)) {
    find(CheckRule::TensorMemoryColumns, by,
         fmt::format("{} allocates {} columns of tensor memory: it takes a power of two from {} to {}", warp_reference(by.warp), columns,
                     kLeastColumns, kTensorColumns),
         columns);
    int next = kLeastColumns;
    while (next < columns && next < kTensorColumns) next *= 2;
    columns = next;
  }
  if (!may_allocate_)
    find(CheckRule::TensorMemoryColumns, by,
         fmt::format("{} allocates tensor memory behind tcgen05.relinquish_alloc_permit", warp_reference(by.warp)), -2);
  int column = 0;
  auto at = allocations_.begin();
  for (; at != allocations_.end() && at->column < column + columns; ++at) column = at->column + at->columns;
  if (column + columns > kTensorColumns) return std::nullopt;
  allocations_.insert(at, {column, columns, by});
  return column;
}

void TensorShadow::free(int column, int columns, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const TensorAllocation& one) { return one.column == column && one.columns == columns; });
  if (found == allocations_.end()) {
    find(CheckRule::TensorMemoryColumns, by,
         fmt::format("{} frees {} of tensor memory, which were not allocated like this or are free already", warp_reference(by.warp),
                     columns_said(column, columns)),
         column);
    return;
  }
  const TensorCells all{0xFF, column, columns};
  use(std::span(&all, 1), true, access, known, by);
  allocations_.erase(found);
  for (int sixteen = 0; sixteen < kSixteens; ++sixteen) std::ranges::fill(inside_->row(sixteen, all), 0);
}

void TensorShadow::check_end() {
  for (const TensorAllocation& one : allocations_)
    find(CheckRule::TensorMemoryNotFreed, one.by,
         fmt::format("{} of tensor memory, allocated by {}, are never freed", columns_said(one.column, one.columns),
                     warp_reference(one.by.warp)),
         one.column);
}

void TensorShadow::check_lanes(int lane, int warp_in_cta, const Barriers::By& by) {
  const int first = warp_in_cta % 4 * 32;
  if (lane >= first && lane < first + 32) return;
  find(CheckRule::TensorMemoryLanes, by,
       fmt::format("{} reaches lane {} of tensor memory; as warp {} of its group it reaches lanes {} to {}", warp_reference(by.warp), lane,
                   warp_in_cta % 4, first, first + 31),
       lane);
}

std::vector<TensorCells> TensorShadow::inside_allocations(std::span<const TensorCells> where, const char* what, const Barriers::By& by) {
  std::vector<TensorCells> inside;
  for (const TensorCells& cells : where) {
    const int end = cells.column + cells.columns;
    // What is allocated side by side may be reached by one access.
    int column = cells.column;
    for (const TensorAllocation& one : allocations_)
      if (one.column <= column && column < one.column + one.columns) column = one.column + one.columns;
    if (cells.column < 0 || end > kTensorColumns)
      find(CheckRule::TensorMemoryColumns, by,
           fmt::format("{} by {} of {}: tensor memory has {}", what, warp_reference(by.warp), columns_said(cells.column, cells.columns),
                       kTensorColumns),
           cells.column);
    else if (column < end)
      find(CheckRule::TensorMemoryColumns, by,
           fmt::format("{} by {} of {}, which are not all allocated", what, warp_reference(by.warp),
                       columns_said(cells.column, cells.columns)),
           cells.column);
    const int first = std::clamp(cells.column, 0, kTensorColumns), last = std::clamp(end, first, kTensorColumns);
    if (first < last) inside.push_back({cells.sixteens, first, last - first});
  }
  return inside;
}

void TensorShadow::use(std::span<const TensorCells> where, bool write, const ShadowAccess& access, const KnownClocks& known,
                       const Barriers::By& by) {
  inside_->states.tidy(inside_->cells);
  // Tensor memory is no memory of a proxy: tcgen05.wait and fences order it. Here the proxy tells the tensor core from warps.
  AccessStep step(inside_->states, access, known, {.write = write, .own_in_order = true, .fenced = true});
  const std::vector<TensorCells> inside = inside_allocations(where, access.what, by);
  if (inside.empty()) return;
  for (const TensorCells& cells : inside)
    for (int sixteen = 0; sixteen < kSixteens; ++sixteen)
      if ((cells.sixteens >> sixteen & 1) != 0) step.whole(inside_->row(sixteen, cells));
  const std::string said = columns_said(inside.front().column, inside.front().columns);
  const AccessStep::Outcome outcome = step.outcome(1);
  for (const AccessClash& clash : outcome.clashes) {
    const PastAccess& past = clash.with.front().past;
    if (clash.kind == AccessClash::Kind::NotVisible && access.proxy == Proxy::Async && past.proxy == Proxy::Async) {
      if (findings_->again(CheckRule::ProductOrder, by.pc, past.pc)) continue;
      find(CheckRule::ProductOrder, by,
           fmt::format(
               "{} by {} of {} of tensor memory that the product at {} reached: another accumulator or shape, so either may come first, "
               "and its commit was not waited for, with tcgen05.fence behind",
               access.what, warp_reference(by.warp), said, place_reference(past.pc)),
           past.pc, {{past.pc, past.warp, "reaches it"}});
      continue;
    }
    if (clash.kind == AccessClash::Kind::NotVisible) {
      if (findings_->again(CheckRule::MissingTensorFence, by.pc, past.pc)) continue;
      find(CheckRule::MissingTensorFence, by,
           fmt::format("{} by {} of {} of tensor memory that {} reached at {}: waited for, with no tcgen05.fence on both sides of the wait",
                       access.what, warp_reference(by.warp), said, inside_->components.name(past.by), place_reference(past.pc)),
           past.pc, {{past.pc, past.warp, "reaches it"}});
      continue;
    }
    const bool reads = clash.kind == AccessClash::Kind::StillRead;
    if (findings_->again(CheckRule::TensorMemoryRace, by.pc, past.pc)) continue;
    find(CheckRule::TensorMemoryRace, by,
         fmt::format("{} by {} {} {} of tensor memory that {} {} at {}, which it has not waited for", access.what, warp_reference(by.warp),
                     write ? "over" : "of", said, inside_->components.name(past.by), reads ? "may still read" : "writes",
                     place_reference(past.pc)),
         past.pc, {{past.pc, past.warp, reads ? "reads it" : "writes it"}});
  }
  if (!write && outcome.never_written == outcome.amount)
    find(CheckRule::TensorMemoryRace, by,
         fmt::format("{} by {} of {} of tensor memory that nothing has written", access.what, warp_reference(by.warp), said), -2);
}

void TensorShadow::read(std::span<const TensorCells> where, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by) {
  use(where, false, access, known, by);
}

void TensorShadow::write(std::span<const TensorCells> where, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by) {
  use(where, true, access, known, by);
}

}  // namespace heddle::ptx

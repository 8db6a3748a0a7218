// Keys of accesses are addresses of layouts; an entry holds its layouts, so that no address is used again while the entry lives.
#include "core/layout/layout_store.h"

#include <map>
#include <mutex>
#include <tuple>

#include "core/layout/known.h"
#include "core/layout/notation.h"

namespace heddle {
namespace {

constexpr std::size_t kMostEntries = 1 << 14;  // of each kind; then it begins anew

std::optional<Layout> made(const LayoutKey& key) {
  switch (key.form) {
    case LayoutForm::Accumulator: return accumulator_layout(key.columns);
    case LayoutForm::Operand: return operand_layout(key.columns, key.bits);
    case LayoutForm::WarpRows: return warp_rows_layout(key.rows, key.columns);
    case LayoutForm::ThreadRows: return thread_rows_layout(key.rows, key.columns);
    case LayoutForm::QuadsDown: return known_layout("quads_down", {key.rows, key.columns}, key.bits);
    case LayoutForm::QuadsAcross: return known_layout("quads_across", {key.rows, key.columns}, key.bits);
    case LayoutForm::Panels: return panels_layout(key.rows, key.columns, key.bits, key.number);
    case LayoutForm::Packed: return known_layout(key.number > 0 ? "packed lines" : "packed", {key.rows, key.columns}, key.bits);
    case LayoutForm::PackedOperand: return known_layout("packed_operand", {key.rows, key.columns}, key.bits);
    case LayoutForm::Vector: break;
  }
  return known_layout("rows", {key.columns}, key.bits);
}

/// Another thread may make the same meanwhile; the first one stays.
template <class Map, class Make>
typename Map::mapped_type entry_of(Map& map, std::mutex& mutex, const typename Map::key_type& key, Make make) {
  {
    const std::lock_guard lock(mutex);
    if (const auto it = map.find(key); it != map.end()) return it->second;
  }
  typename Map::mapped_type value = make();
  const std::lock_guard lock(mutex);
  if (map.size() >= kMostEntries) map.clear();
  return map.emplace(key, std::move(value)).first->second;
}

std::shared_ptr<const StoredLayout> stored(std::optional<Layout> layout, int bits) {
  if (!layout) return nullptr;
  auto entry = std::make_shared<StoredLayout>();
  entry->text = layout_text(*layout, bits);
  entry->layout = std::make_shared<const Layout>(*std::move(layout));
  return entry;
}

}  // namespace

std::shared_ptr<const StoredLayout> stored_layout(const LayoutKey& key) {
  static std::map<LayoutKey, std::shared_ptr<const StoredLayout>> all;
  static std::mutex mutex;
  return entry_of(all, mutex, key, [&] {
    std::optional<Layout> layout = made(key);
    if (layout && key.without >= 0) layout = without_dimension(*layout, static_cast<std::size_t>(key.without));
    return stored(std::move(layout), key.bits);
  });
}

std::shared_ptr<const StoredLayout> stored_layout(const std::string& text, const std::vector<std::int64_t>& shape, int bits,
                                                  const std::string& pointer, std::vector<Fault>& faults) {
  static std::map<std::tuple<std::string, std::vector<std::int64_t>, int>, std::shared_ptr<const StoredLayout>> all;
  static std::mutex mutex;
  std::vector<Fault> found;
  const auto read = [&]() -> std::shared_ptr<const StoredLayout> {
    Result<Layout> layout = parse_layout(text, {shape, bits}, {}, pointer);
    if (layout) return stored(*std::move(layout), bits);
    found = layout.error().faults;
    return nullptr;
  };
  // A text that is not read is read again by whoever asks again: it wants its faults.
  auto entry = text.size() > 4096 ? read() : entry_of(all, mutex, {text, shape, bits}, read);
  if (!entry && found.empty()) read();
  faults.insert(faults.end(), found.begin(), found.end());
  return entry;
}

std::shared_ptr<const Layout> stored_transposed(const std::shared_ptr<const Layout>& layout) {
  struct Entry {
    std::shared_ptr<const Layout> from, to;
  };
  static std::map<const Layout*, Entry> all;
  static std::mutex mutex;
  return entry_of(all, mutex, layout.get(), [&] { return Entry{layout, std::make_shared<const Layout>(transposed(*layout))}; }).to;
}

StoredAccess stored_access(const std::shared_ptr<const Layout>& registers, const std::shared_ptr<const Layout>& memory, int bits,
                           const Instruction& row, const LaneExchange& exchange) {
  // All of the row that counting looks at: another machine's row of the same name may be another instruction.
  using Key = std::tuple<const Layout*, const Layout*, int, std::string, std::string, InstructionKind, int, int, bool, int, int, int>;
  struct Entry {
    StoredAccess access;
    std::shared_ptr<const Layout> registers, memory;
  };
  static std::map<Key, Entry> all;
  static std::mutex mutex;
  const Key key{registers.get(),
                memory.get(),
                bits,
                row.name,
                row.cycles.text(),
                row.kind,
                row.bytes,
                row.matrices,
                row.transposed,
                row.lanes_per_phase,
                exchange.lane,
                exchange.register_bit};
  return entry_of(all, mutex, key,
                  [&] {
                    Entry entry{{}, registers, memory};
                    entry.access.refusal = access_of(*registers, *memory, bits, row, exchange).refusal;
                    if (entry.access.refusal.empty()) entry.access.cost = cost_of_access(*registers, *memory, bits, row, exchange);
                    return entry;
                  })
      .access;
}

StoredConversion stored_conversion(const std::shared_ptr<const Layout>& from, const std::shared_ptr<const Layout>& to, int bits) {
  struct Entry {
    StoredConversion conversion;
    std::shared_ptr<const Layout> from, to;
  };
  static std::map<std::tuple<const Layout*, const Layout*, int>, Entry> all;
  static std::mutex mutex;
  return entry_of(all, mutex, {from.get(), to.get(), bits},
                  [&] {
                    Entry entry{{conversion_class(*from, *to, bits), 0}, from, to};
                    if (entry.conversion.kind == ConversionClass::Shuffle) entry.conversion.shuffles = shuffles_of(*from, *to, bits);
                    return entry;
                  })
      .conversion;
}

}  // namespace heddle

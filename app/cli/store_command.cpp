// heddle store: what is kept of earlier searches.
#include <ctime>

#include <fmt/format.h>

#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "app/jobs/content_store.h"
#include "core/base/json.h"

namespace heddle::app {
namespace {

std::string utc_minute(std::int64_t nanoseconds) {
  const std::time_t time = nanoseconds / 1'000'000'000;
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
  return text;
}

std::string entry_title(const ContentStore& store, const StoreEntry& entry) {
  const auto key = store.key_of(entry);
  return key ? key->substr(0, key->find('\n')) : "damaged; counts for nothing";
}

}  // namespace

int run_store(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const ContentStore store;
  if (!store.on()) return report(terminal, Error::environment("there is no store", "HEDDLE_STORE is off, or HOME is not set"), json);
  const std::string what = arguments.text("WHAT").value_or("size");
  if (what == "clear") {
    const Result<std::size_t> removed = store.clear();
    if (!removed) return report(terminal, removed.error(), json);
    if (json)
      terminal.out << Json(Json::Object{{"folder", store.place().folder}, {"removed", *removed}}).pretty();
    else
      terminal.note(fmt::format("{} entries removed from {}", *removed, store.place().folder));
    return kDone;
  }
  const std::vector<StoreEntry> entries = store.entries();
  std::uint64_t bytes = 0;
  for (const StoreEntry& entry : entries) bytes += entry.bytes;
  if (json) {
    Json root = Json::object();
    root.set("folder", store.place().folder).set("entries", entries.size()).set("bytes", bytes).set("most_bytes", store.place().most_bytes);
    if (what == "list") {
      Json list = Json::array();
      for (const StoreEntry& entry : entries)
        list.push(Json::object()
                      .set("what", entry_title(store, entry))
                      .set("bytes", entry.bytes)
                      .set("used", utc_minute(entry.used))
                      .set("path", entry.path));
      root.set("list", std::move(list));
    }
    terminal.out << root.pretty();
    return kDone;
  }
  if (what == "list") {
    std::vector<std::vector<std::string>> rows;
    for (const StoreEntry& entry : entries)
      rows.push_back({utc_minute(entry.used), fmt::format("{}", entry.bytes), printable(entry_title(store, entry))});
    if (!rows.empty()) terminal.out << text_table({{"used (UTC)"}, {"bytes", true}, {"answer"}}, rows);
  }
  terminal.out << fmt::format("{} answers, {:.1f} of {} MiB, in {}\n", entries.size(), static_cast<double>(bytes) / (1 << 20),
                              store.place().most_bytes >> 20, printable(store.place().folder));
  return kDone;
}

}  // namespace heddle::app

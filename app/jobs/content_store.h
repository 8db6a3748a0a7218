// Answers that stay true, each in a file named by the digest of its question: whoever asks again, in the window, on the command
// line or in another process, gets the answer for the price of reading a file.
//
// Nothing that happens to the folder can make an answer wrong: an entry carries its whole question and a digest of everything in it, keyed
// with a secret of the folder, so one that is torn, altered, made up, or of another question under the same digest is a miss. Writers write
// aside and rename, so several at once, killed ones and a full disk cost an entry at most. A store that cannot be read or written behaves
// like an empty one.
//
// The folder is for its user alone (0700), and so is the secret in it (`key`, 0600, 32 random bytes). A folder that is open to others is
// closed if nothing but a store is in it, else there is no store; folders, keys and entries that belong to another user, that others may
// write to, that are links, or no regular files, count as not there. One sentence per process says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

struct StorePlace {
  std::string folder;            ///< empty: no store
  std::uint64_t most_bytes = 0;  ///< above that the entries that were not asked for longest go
};
/// $HEDDLE_STORE ("off": none), else $XDG_CACHE_HOME/heddle/store, else ~/.cache/heddle/store; of 256 MiB or $HEDDLE_STORE_MIB.
StorePlace store_place();

/// Why the store, or something in it, was not believed: the first such sentence of this process, once.
std::optional<std::string> take_store_trouble();

struct StoreEntry {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  ///< when it was last written or found: nanoseconds since 1970
};

class ContentStore {
 public:
  explicit ContentStore(StorePlace place = store_place()) : place_(std::move(place)) {}

  bool on() const { return !place_.folder.empty(); }
  const StorePlace& place() const { return place_; }

  /// The value kept for this very key.
  std::optional<std::string> find(std::string_view key) const;
  /// Keeps a value, replacing the one that was kept for the key. False: it could not be written, which costs time only.
  bool put(std::string_view key, std::string_view value) const;

  /// All entries, the one used last first.
  std::vector<StoreEntry> entries() const;
  /// The key of an entry of entries(), if it is whole.
  std::optional<std::string> key_of(const StoreEntry& entry) const;
  /// Removes all entries, and nothing else (the key stays); how many there were. An environment error where one cannot be removed.
  Result<std::size_t> clear() const;

 private:
  StorePlace place_;
};

}  // namespace heddle::app

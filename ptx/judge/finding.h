// What is said of a kernel's run: findings, and the rules that they break.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::ptx {

enum class Rank : std::uint8_t {
  Wrong,     ///< the kernel hangs, reads wrong bytes, or may
  Doubtful,  ///< not in order by the letter of the PTX ISA; hardware of today lets it pass
  Note,
};

enum class CheckRule : std::uint8_t {
  // wrong
  Hang,
  ArrivalsOverCount,
  BytesLeft,
  ReadBeforeReady,
  OverwriteBeforeRead,
  WriteOverWrite,
  MissingProxyFence,
  RegisterInFlight,
  MissingProductFence,
  BarrierBeforeMade,
  BarrierNotMade,
  BarrierCount,
  BarrierPlace,
  NamedBarrierCount,
  RegisterPool,
  TensorMemoryRace,
  TensorMemoryLanes,
  TensorMemoryColumns,
  TensorMemoryNotFreed,
  OutOfShared,
  OutOfGlobal,
  Misaligned,
  NotConverged,
  Multicast,
  ExitWhileWaited,
  NotCommitted,
  ProductShape,
  Trap,
  // doubtful by the letter
  NoFenceAfterInit,
  NoFenceBeforeCopy,
  ExitWhileStoring,
  LoadNotWaited,
  MissingTensorFence,
  ProductOrder,
  PartialPhase,
  UnorderedStores,
  // notes
  ManyLanesIssue,
};

struct RuleRow {
  CheckRule rule;
  Rank rank;
  std::string_view name;      ///< "arrivals over count"
  std::string_view key;       ///< "arrivals_over_count": in JSON
  std::string_view section;   ///< of the PTX ISA, that asks for it
  std::string_view sentence;  ///< the rule itself, in our words
};
std::span<const RuleRow> rule_rows();
const RuleRow& row_of(CheckRule rule);

/// Another instruction that a finding is about: the write that was not waited for, the wait of a hang's circle.
struct RelatedPlace {
  int pc = -1;
  int warp = -1;
  std::string what;  ///< with references
};

struct CheckFinding {
  CheckRule rule = CheckRule::Hang;
  int pc = -1;           ///< instruction in the function; -1: none in particular
  int warp = -1;         ///< in the cluster; -1: none in particular
  std::string sentence;  ///< with references (reference.h)
  std::vector<RelatedPlace> related;
  std::int64_t cycle = 0;
  std::int64_t times = 1;  ///< how often the same was found at the same place
};

/// Findings, one for a rule and a pair of places.
class Findings {
 public:
  /// `other`: what else tells it from another of the same rule at the same place (a second pc, a barrier).
  void add(CheckFinding finding, std::int64_t other = -1);
  /// True where this was said already, so that the sentence need not be made again; counts it.
  bool again(CheckRule rule, int pc, std::int64_t other);
  const std::vector<CheckFinding>& all() const { return all_; }

 private:
  struct Key {
    CheckRule rule;
    int pc;
    std::int64_t other;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  std::vector<CheckFinding> all_;
  std::unordered_map<Key, std::size_t, KeyHash> places_;  ///< into all_
};

}  // namespace heddle::ptx

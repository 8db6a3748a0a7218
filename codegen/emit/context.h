// What everybody shares who writes a part of a kernel's text: what is written about, the text, and what the text turns out to need. The
// functions that write are in files of their own, named after what they write; role.h calls them, step by step.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "codegen/emit/names.h"
#include "codegen/emit/product.h"
#include "codegen/emit/register_tiles.h"
#include "codegen/emit/text.h"

namespace heddle::codegen {

/// Named barriers: 1 and up for the warps of a role, from here on for its turns; those who take and who pass meet.
inline constexpr int kFirstTurn = 8, kTurnThreads = 256;
/// The named barrier of all threads at which who gives tensor memory back waits for the others.
inline constexpr int kFreeing = 15;

/// Where tiles have trips of their own: from which block index they follow, and how.
struct TripRule {
  std::size_t dim = 0;                              ///< of the grid
  std::int64_t slope = 1, offset = 0, divisor = 1;  ///< trips = (slope * index + offset) / divisor within the program's bounds
  bool longer_later = true;
  bool fitted = true;  ///< else trips are computed as the kernel file says it
};

/// The grid that blocks walk over (walk.h).
struct WalkedGrid {
  std::vector<std::int64_t> sizes;  ///< of tiles, or of the clusters' tiles
  std::vector<std::string> names;
  std::optional<TripRule> rule;  ///< of a program whose trips vary
  // With sizes at run time: "sizes.tiles_bm".
  std::vector<std::string> fields;  ///< for `sizes`; empty: that one is a number
  std::string tiles;                ///< all of them; empty: a number
  std::string trips;                ///< of every tile, or the most, where tiles have trips of their own
};

/// Wrappers whose operands depend on widths, which the text calls.
struct Wrappers {
  std::set<ProductShape> products;
  std::set<int> tensor_loads, tensor_stores;  ///< widths
};

/// A wgmma that has been issued.
struct Flying {
  const Step* step;
  bool this_pass;
};

/// What steps of a role leave for those that come after them in the text.
struct RoleNotes {
  std::vector<std::string> look_ups;  ///< what n0, n1 ... are
  std::set<std::size_t> finished_sums;
  std::vector<const Step*> open;  ///< wgmmas: issued, not committed
  std::deque<std::vector<Flying>> flying;
  std::vector<Flying> unpinned;      ///< complete, but ptxas does not know it before a wait for all
  const Step* unread = nullptr;      ///< powers of two that were computed and that nothing has read yet
  std::vector<const Step*> loading;  ///< from tensor memory, into registers that nothing may read yet
  bool wrote_shared = true;          ///< since the role's last barrier, seen by none but its own threads; first of all by the tile before
};

/// What recorder.h knows of the role that is being written.
struct RecordNotes {
  std::vector<RecordEvent> events;   ///< of the next record
  std::vector<const Step*> open;     ///< issued, not committed
  std::vector<const Step*> loading;  ///< from tensor memory, not waited for
  std::deque<std::vector<const Step*>> flying;
};

struct EmitContext {
  const Kernel& kernel;
  const Problem& problem;
  const Schedule& schedule;
  const Program& program;
  RegisterTiles tiles = {};
  WalkedGrid grid = {};

  CudaText text = {};
  std::vector<Refusal> refusals = {};
  LaunchPlan launch = {};
  Wrappers wrappers = {};
  int places = 0;                      ///< numbers of coordinates that are looked up
  std::set<std::string> skipped = {};  ///< ops that are left out where all factors are one
  std::optional<RecordPlan> records = {};

  // The role being written.
  const Role* role = nullptr;
  std::size_t role_index = 0;
  bool one_thread = false;
  const Section* section = nullptr;
  RoleNotes notes = {};
  RecordNotes recording = {};

  /// Once per rule and op.
  void refuse(std::string rule, const TileOp& op, std::string sentence);
};

}  // namespace heddle::codegen

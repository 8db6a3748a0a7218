// Other sizes for a launch: which numbers of it are one size, and what changes with it. Which sizes are worth a look is proposed_sizes().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ptx/launch/launch.h"

namespace heddle::ptx {

/// "K=320": the parameter K becomes 320, and so does every extent of a tensor map, and every word of the block without a name, that has
/// K's value. "1024=320": all that is 1024. "A.0=320": all that is as the innermost extent of A. Behind a colon the places that are meant,
/// where a value is found at others too: "K=320:A.0,B.0,16" (extents; bytes of the block).
struct SizeWish {
  std::string size;
  std::uint64_t value = 0;
  std::vector<std::string> only;
  bool operator==(const SizeWish&) const = default;
};
Result<SizeWish> read_size(const std::string& text);
std::string size_text(const SizeWish& wish);

struct ResizedLaunch {
  Launch launch;
  std::vector<std::string> told;  ///< where each size was found, what may belong to it and stays, that the grid stays
};

/// Strides of tensors without gaps follow, and so does memory that ends where such a tensor does. The grid stays. Faults (part "size"):
/// nothing has that name or value; another parameter has the same value, and extents have it too; the driver would refuse the launch.
Result<ResizedLaunch> resized(const Launch& launch, const std::vector<SizeWish>& wishes);

/// What an execution saw of a launch, as far as sizes go.
struct SizesSeen {
  std::string loop;                ///< the size along which the main loop walks, as SizeWish::size; "": no loop was seen
  std::uint64_t trip = 0;          ///< elements of it that one trip takes
  int stages = 0;                  ///< of the deepest ring that the loop fills
  std::string tile_size;           ///< one that tiles cut outside of the loop; "": none was seen
  std::uint64_t tile = 0;          ///< elements of it that one tile takes
  std::uint64_t tiles_of_cta = 1;  ///< that the busiest CTA worked through; more than 1 only where CTAs take tile after tile
};

/// How a run used a tensor map.
struct MapUse {
  std::size_t map = 0;             ///< index into Launch::maps
  bool stored = false;             ///< else it is loaded
  int slots = 0;                   ///< of the ring that it fills; 0: it fills none
  std::int64_t copies = 0;         ///< of the first CTA
  std::int64_t boxes_of_slot = 1;  ///< copies that fill a slot
};
/// A guess by the tensors' extents: the loop walks along one that tensors in rings share and that no tensor has that is stored; tiles cut
/// one that is stored too. `why_not` gets a line where there is none.
SizesSeen sizes_seen(const Launch& launch, const std::vector<MapUse>& uses, std::vector<std::string>* why_not = nullptr);

struct SizedLaunch {
  std::string why;  ///< "fewer trips than stages"
  std::vector<SizeWish> wishes;
  Launch launch;
  std::vector<std::string> told;
};

/// One trip; fewer trips than stages; no multiple of the stages; three tiles a CTA; a last tile that is short. Left out: what was not
/// seen, what the launch is already, and what cannot be (a line in `left_out`).
std::vector<SizedLaunch> proposed_sizes(const Launch& launch, const SizesSeen& seen, std::vector<std::string>* left_out = nullptr);

}  // namespace heddle::ptx

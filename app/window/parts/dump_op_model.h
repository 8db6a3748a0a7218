// What a compiler's dump says of an op, in words.
#pragma once

#include <optional>
#include <string>

#include "core/dump/dump.h"

namespace heddle::app {

/// "tmem_load 128x64 f32 · ttng.tmem_load, node 8 · cycle 1 322, stage 0, wg3"
std::string describe_node(const dump::DumpNode& node);
/// The loop that a node stands for, where the file has it.
std::optional<std::int64_t> loop_inside(const dump::Dump& dump, const dump::DumpNode& node);

}  // namespace heddle::app

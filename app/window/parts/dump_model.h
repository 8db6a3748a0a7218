// What there is to choose of a compiler's dump, or of a Triton text, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/command.h"
#include "app/session/document.h"
#include "app/session/dump_source.h"

namespace heddle::app {

struct TritonSource;  // app/session/triton_source.h

/// A kernel or pass of the file, a loop, a reading.
struct SourceChoice {
  std::string id;     ///< the probe knows it as "dump/loop/ID", "dump/offer/ID", "dump/reading/ID"
  std::string name;   ///< "loop 0 in 1"
  std::string facts;  ///< "31 ops · II 1 325"
  std::string about;  ///< more than there is room for; may be empty
  bool current = false;
  std::optional<Command> show;  ///< makes it the current one
};

struct DumpModel {
  std::string title;   ///< "DUMP"
  std::string file;    ///< its name, and the variants where there are some
  std::string path;    ///< all of it
  std::string format;  ///< "schedule_graph 0.1"
  std::string about;   ///< who made it, what its limits are
  std::vector<SourceChoice> offers, loops, readings;
};

DumpModel build_dump(const DumpSource& source);
DumpModel build_triton(const TritonSource& source);
/// Of what is open; nothing where that is a kernel of our own.
std::optional<DumpModel> build_opened(const Content& content);
/// "tmem_load 128x64 f32 · ttng.tmem_load, node 8 · cycle 1 322, stage 0, wg3"
std::string describe_node(const dump::Node& node);
/// The loop that a node stands for, where the file has it.
std::optional<std::int64_t> loop_inside(const DumpSource& source, const dump::Node& node);

}  // namespace heddle::app

// A compiler's dump that is open: the whole file, which loop of it is worked on, and by which reading.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/dump/audit.h"
#include "core/dump/dump.h"
#include "core/dump/native.h"

namespace heddle::app {

/// What one document of the file holds; a file of variants has several of the same loops.
struct DumpDocument {
  dump::Dump dump;
  dump::Audit audit;
};

/// As it was read; never changed.
struct DumpFile {
  std::string path;
  std::string text;                     ///< exports change it in place
  std::vector<DumpDocument> documents;  ///< at least one
  int left_out = 0;                     ///< documents beyond those
};

struct DumpSource {
  std::shared_ptr<const DumpFile> file;
  std::size_t document = 0;  ///< whose graph is the problem
  std::size_t loop = 0;      ///< index
  dump::Reading reading = dump::Reading::Full;

  const DumpDocument& now() const { return file->documents[document]; }
  const dump::Dump& dump() const { return now().dump; }
  const dump::Loop& the_loop() const { return now().dump.loops[loop]; }
  /// As core/dump/dump_files.h reads it: FILE#LOOP,READING.
  std::string name() const { return name_of(document); }
  std::string name_of(std::size_t document) const;
};

/// FILE, FILE#LOOP,READING ... Where no loop is said: the innermost one that has a schedule, else the first.
Result<DumpSource> read_dump_source(const std::string& name);

/// What both readings say of a schedule that a dump stores, in one sentence.
struct DumpVerdict {
  bool own = true, full = true;  ///< nothing is wrong by the compiler's reading; by the full one
  std::string sentence;
};
/// Null where the loop stores no schedule. `loop` is an index.
std::shared_ptr<const DumpVerdict> judge_stored(const DumpDocument& document, std::size_t loop);

/// "issue slots" or "full", and what that means in one sentence.
const char* short_name(dump::Reading reading);
const char* about(dump::Reading reading);

}  // namespace heddle::app

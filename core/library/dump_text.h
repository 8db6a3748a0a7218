// A dump of a compiler's scheduler (core/dump/dump.h) as a source: FILE, or FILE#WORDS as core/dump/dump_files.h reads them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/dump/audit.h"
#include "core/dump/dump.h"
#include "core/dump/dump_files.h"
#include "core/kernel/subtile.h"
#include "core/library/source.h"

namespace heddle {

class DumpText final : public Source {
 public:
  /// As it was read, for all names of it.
  class File;
  using SharedDump = Result<std::shared_ptr<const dump::Dump>>;

  /// `words` as they were typed; `cut`: what they say. `file`: what the name leads to.
  DumpText(std::string words, CutName cut, std::shared_ptr<const File> file);

  const std::string& text() const;
  /// Of what is meant: path, loop, reading, variant.
  const Result<dump::DumpAddress>& address() const { return address_; }
  /// The one that is meant; a file of variants has several.
  SharedDump document() const;
  /// Of these its schedules are shown: the first few of a file, and the one that is meant. Pre: that can be read.
  std::vector<int> variants() const;
  /// FILE#LOOP,READING of this variant. Pre: it is opened().
  std::string name_of(int variant) const;
  /// The loop that is meant, of that document.
  Result<const dump::DumpLoop*> loop() const;
  /// Pre: it is opened().
  const dump::Dump& the_dump() const { return **document(); }
  const dump::DumpLoop& the_loop() const { return **loop(); }
  /// The one that is named, else what the format is read by. Pre: it can be read.
  dump::DumpReading reading() const;

  /// A word without a dot or a slash is a kernel's only.
  bool names_machine() const override;
  Result<Kernel> kernel(std::vector<Fault>* warnings) const override;
  Result<Machine> machine(std::vector<Fault>* warnings) const override;
  Result<Constraints> rules(const Problem& problem, bool emitter) const override;
  bool has_own() const override;
  Result<Schedule> own_schedule(const Problem& problem) const override;
  std::vector<OwnSchedule> own_schedules(const Problem& problem) const override;

  std::string path() const override;
  Result<SourcePtr> opened() const override;
  Result<SourcePtr> with(const FilePart& part) const override;
  bool same_text(const Source& other) const override { return other.dump() && other.dump()->file_ == file_; }
  bool lends_schedules() const override { return true; }
  std::string left_out() const override;
  std::string subject() const override;
  std::string reading_name() const override;
  std::string audit_name() const override;
  SourceOutline outline() const override;
  const DumpText* dump() const override { return this; }

  const std::shared_ptr<const File>& file() const { return file_; }

 private:
  SourcePtr named(std::int64_t loop, dump::DumpReading reading) const;
  std::string name_with(std::int64_t loop, dump::DumpReading reading, int variant) const;

  CutName cut_;
  Result<dump::DumpAddress> address_;
  std::shared_ptr<const File> file_;
};

/// The file taken for a dump, whatever it is: what reads it says why it is none. A fault where there is no such file.
Result<std::shared_ptr<const DumpText>> taken_for_dump(const std::string& name);

class DumpText::File {
 public:
  File(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  /// Of a file of variants; each is parsed once.
  SharedDump document(int variant) const;
  /// Of the whole document; made once. Pre: it can be read.
  const dump::DumpAudit& audit(int variant) const;

 private:
  std::string path_, text_;
  mutable std::mutex mutex_;
  mutable std::map<int, SharedDump> documents_;
  mutable std::map<int, dump::DumpAudit> audits_;
};

inline const std::string& DumpText::text() const { return file_->text(); }
inline std::string DumpText::path() const { return file_->path(); }

}  // namespace heddle

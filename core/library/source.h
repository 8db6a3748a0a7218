// What is asked about, whatever it is written in: a kernel's file or shipped name, a project, a dump of Meta's fork of Triton, a Triton
// text. find_source() is the only one that asks which; all else asks the source: what kernel and machine, what rules and what schedule its
// compiler gave it, and what it has to say. A source reads its file when something is asked of it first, and once: whoever passes it on
// shares what was read, parsed and lowered.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/library/source_kind.h"
#include "core/library/source_parts.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

class DumpText;
class ProjectFile;
class Source;
class TritonText;

using SourcePtr = std::shared_ptr<const Source>;

/// Immutable; shared by all who ask about it, from any thread.
class Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  SourceKind kind() const { return kind_; }
  /// Why it cannot be used so; empty: it can.
  const char* why_not(SourceUse use) const { return heddle::why_not(kind_, use); }
  /// As it was named, with what of it is meant.
  const std::string& name() const { return name_; }
  /// It stands for a machine too, where none is named: as the only one, or (a Triton text) in place of the one that was left out.
  virtual bool names_machine() const { return false; }

  virtual Result<Kernel> kernel(std::vector<Fault>* warnings = nullptr) const = 0;
  /// That it names; a fault where it names none.
  virtual Result<Machine> machine(std::vector<Fault>* warnings = nullptr) const = 0;

  /// What its compiler demands of every schedule of this problem; `emitter`: what its code generator does, too.
  virtual Result<Constraints> rules(const Problem& problem, bool emitter) const;
  /// Its compiler gave it a schedule. False also where it cannot be read.
  virtual bool has_own() const { return false; }
  /// That one. Faults: it has none; the problem has other ops.
  virtual Result<Schedule> own_schedule(const Problem& problem) const;

  /// All that its file stores for the ops of this problem, those of other variants too. Empty: none.
  virtual std::vector<OwnSchedule> own_schedules(const Problem&) const { return {}; }
  /// Of those that could have one, why it has none; may be empty.
  virtual std::string why_no_own() const { return {}; }

  /// What is wrong with a problem of this kernel of it, in its own words: lines of its text in place of places in a kernel that is in no
  /// file.
  virtual Error in_own_words(Error error, const Kernel& /*kernel*/) const { return error; }
  /// What it does not say and was assumed, and what it contradicts itself in.
  virtual std::vector<std::string> notes() const { return {}; }

  // --- a compiler's file that is open (of a kernel of ours there is nothing to ask)

  /// A schedule and no kernel: nothing can be opened.
  virtual bool has_kernel() const { return true; }
  /// The file or folder.
  virtual std::string path() const { return name_; }
  /// The same with the loop and the reading that one begins with, where none is said. Faults: it cannot be read at all.
  virtual Result<SourcePtr> opened() const;
  /// Another part of the same file, of what was read already. Faults: there is no such part, or nothing to schedule in it.
  virtual Result<SourcePtr> with(const FilePart& part) const;
  /// Both are of one text, read once.
  virtual bool same_text(const Source&) const { return false; }
  /// Its schedules may stand beside those of another file that has the same ops.
  virtual bool lends_schedules() const { return false; }
  /// A kernel of the file is still to be chosen.
  virtual bool undecided() const { return false; }
  /// Why there is no kernel; empty with one.
  virtual std::vector<Fault> refused() const { return {}; }
  /// What of the file's schedules is left out, in a sentence; empty: nothing.
  virtual std::string left_out() const { return {}; }
  /// "scores · loop 0"
  virtual std::string subject() const { return name_; }
  /// For people: "full", "issue slots", "Triton's", "free"; empty: there is one only.
  virtual std::string reading_name() const { return {}; }
  /// What `heddle audit` is given for it: whatever the loop and the reading.
  virtual std::string audit_name() const { return name_; }
  virtual SourceOutline outline() const { return {}; }

  /// Null where it is none.
  virtual const ProjectFile* project() const { return nullptr; }
  virtual const DumpText* dump() const { return nullptr; }
  virtual const TritonText* triton() const { return nullptr; }

 protected:
  Source(SourceKind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

 private:
  SourceKind kind_;
  std::string name_;
};

/// "the full", "Triton's": before the word reading.
std::string with_article(const std::string& reading_name);

/// What the word for a kernel means, which may say how it is cut ("NAME[PARAM/FACTOR]", core/kernel/subtile.h, at its default sizes).
/// Shipped names come first. Never null: what is nothing at all is a kernel that has faults. `known`: what was read of the same text is
/// shared.
std::shared_ptr<const Source> find_source(const std::string& words, const Source* known = nullptr);

/// What a compiler wrote into this file (FILE, FILE#WORDS): a dump, a solution, a Triton text. Null: none did.
std::shared_ptr<const Source> compilers_file(const std::string& name, const Source* known = nullptr);

}  // namespace heddle

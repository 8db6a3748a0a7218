// A Triton text as a source: FILE, or FILE#WORDS as core/triton/read/files.h reads them; the loop that is meant, in one reading, as a
// kernel of Heddle's own; and the machine of its target.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/lazy.h"
#include "core/kernel/subtile.h"
#include "core/library/source.h"
#include "core/triton/back/give_back.h"
#include "core/triton/kernel/lowered.h"
#include "core/triton/read/files.h"

namespace heddle {

class TritonText final : public Source {
 public:
  /// One text of a file or folder, for all loops and readings that are named of it.
  class Text;
  using SharedProgram = Result<std::shared_ptr<const triton::TritonProgram>>;
  /// What the loop became.
  struct Lowered {
    triton::LoweredLoop loop;
    std::shared_ptr<const triton::Native> native;
    Kernel kernel;                   ///< the native one; in the free reading cut so that every warp group of the text has its own rows
    std::vector<std::string> notes;  ///< what the text does not say and was assumed, and what its metadata contradicts
  };

  /// `words` as they were typed; `cut`: what they say. What `known` has read is shared, if it is of the same text.
  TritonText(std::string words, CutName cut, const TritonText* known);

  const std::vector<Subtile>& cuts() const { return cut_.cuts; }
  const Result<triton::TextAddress>& address() const { return address_; }
  /// The reading that is named; none where none is.
  std::optional<triton::TextReading> said() const { return address_ ? address_->reading : std::nullopt; }
  /// The one that is named, else the free one.
  triton::TextReading reading() const { return said().value_or(triton::TextReading::Free); }
  /// The same text by this reading.
  std::shared_ptr<const TritonText> by(triton::TextReading reading) const;

  /// What the file or folder holds; read once.
  const Result<std::vector<triton::Offer>>& offers() const;
  /// Read and parsed once.
  SharedProgram program() const;
  /// The one that is meant, by both readings.
  Result<triton::LoweredLoop> loop() const;
  /// Any loop of it. Pre: `site` is of program().
  triton::LoweredLoop loop(const triton::LoopSite& site) const;
  /// By the reading that is meant.
  const Result<Lowered>& lowered() const;
  /// The same, null where it cannot be.
  const triton::Native* native() const { return lowered() ? lowered()->native.get() : nullptr; }
  /// The loop that is meant; null: there is none to take.
  const triton::LoopSite* site() const;

  bool names_machine() const override { return true; }
  Result<Kernel> kernel(std::vector<Fault>* warnings) const override;
  /// The shipped machine for the text's target.
  Result<Machine> machine(std::vector<Fault>* warnings) const override;
  /// Of its passes, in the triton reading.
  Result<Constraints> rules(const Problem& problem, bool emitter) const override;
  /// Triton's own, in the triton reading.
  bool has_own() const override;
  Result<Schedule> own_schedule(const Problem& problem) const override;
  std::vector<OwnSchedule> own_schedules(const Problem& problem) const override;
  std::string why_no_own() const override;
  Error in_own_words(Error error, const Kernel& kernel) const override;
  std::vector<std::string> notes() const override;

  std::string path() const override { return address_ ? address_->path : name(); }
  Result<SourcePtr> opened() const override;
  Result<SourcePtr> with(const FilePart& part) const override;
  bool same_text(const Source& other) const override { return other.triton() && other.triton()->text_ == text_; }
  bool undecided() const override { return !program(); }
  std::vector<Fault> refused() const override;
  std::string subject() const override;
  std::string reading_name() const override;
  std::string audit_name() const override;
  SourceOutline outline() const override;
  const TritonText* triton() const override { return this; }

 private:
  using Offers = Lazy<Result<std::vector<triton::Offer>>>;
  std::shared_ptr<const TritonText> named(const triton::TextAddress& address) const;
  /// Nobody says which of several it is.
  bool open_choice() const;

  CutName cut_;
  Result<triton::TextAddress> address_;
  std::shared_ptr<const Text> text_;
  std::shared_ptr<const Offers> offers_;
  Lazy<Result<Lowered>> lowered_;
};

/// A schedule of that problem, given back (core/triton/back/give_back.h). Pre: of the triton reading.
Result<triton::GivenBack> give_back(const TritonText::Lowered& lowered, const Problem& problem, const Schedule& schedule,
                                    const Machine& machine);

/// The name with this reading added. Pre: it has none.
std::string with_reading(const std::string& name, triton::TextReading reading);

/// The shipped machine for the text's target; for a target that no machine file is for, one that has limits only, so that memory can be
/// judged.
Machine limits_of_target(const triton::TritonProgram& program);

}  // namespace heddle

#include "core/library/triton_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/check/form.h"
#include "core/library/library.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/kernel/own_schedule.h"

namespace heddle {
namespace {

/// What metadata and text say differently.
std::vector<std::string> contradictions(const triton::TritonProgram& program) {
  std::vector<std::string> notes;
  const triton::Metadata& data = program.metadata;
  const auto differs = [&](const char* what, std::optional<std::int64_t> said, std::int64_t is) {
    if (said && *said != is)
      notes.push_back(fmt::format("{} says {} {}, the text {}: they do not belong together", data.file, what, *said, is));
  };
  differs("target", data.target, program.target);
  differs("num_warps", program.form == triton::TextForm::Final ? std::nullopt : data.num_warps, program.num_warps);
  return notes;
}

/// Bytes of shared memory that a block may have, by compute capability (CUDA C++ programming guide, technical specifications).
std::int64_t shared_limit(int target) {
  switch (target) {
    case 70:
    case 72: return 98'304;
    case 75: return 65'536;
    case 80:
    case 87: return 166'912;
    case 86:
    case 89:
    case 120:
    case 121: return 101'376;
    default: return target >= 90 && target < 120 ? 232'448 : 0;
  }
}

bool same_ops(const triton::Native& native, const Problem& problem) {
  return native.kernel.body.size() == problem.ops.size() && std::equal(problem.ops.begin(), problem.ops.end(), native.kernel.body.begin(),
                                                                       [](const Op& op, const TileOp& of) { return op.name == of.name; });
}

}  // namespace

class TritonText::Text {
 public:
  explicit Text(triton::TextAddress address) : address_(std::move(address)) {}

  bool is(const triton::TextAddress& address) const { return address.path == address_.path && address.words == address_.words; }

  const SharedProgram& program() const {
    return program_.get([&]() -> SharedProgram {
      Result<triton::TritonProgram> program = triton::read_program(address_);
      if (!program) return program.error();
      return std::make_shared<const triton::TritonProgram>(*std::move(program));
    });
  }
  /// Pre: there is a program, and `index` is a loop of it.
  triton::LoweredLoop loop(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return loops_.try_emplace(index, *program(), index).first->second;
  }

 private:
  triton::TextAddress address_;
  Lazy<SharedProgram> program_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, triton::LoweredLoop> loops_;
};

TritonText::TritonText(std::string words, CutName cut, const TritonText* known)
    : Source(SourceKind::Triton, std::move(words)), cut_(std::move(cut)), address_(triton::parse_address(cut_.kernel)) {
  if (!address_) return;
  text_ = known && known->text_ && known->text_->is(*address_) ? known->text_ : std::make_shared<const Text>(*address_);
  const bool same_file = known && known->offers_ && known->path() == address_->path;
  offers_ = same_file ? known->offers_ : std::make_shared<const Offers>();
}

std::shared_ptr<const TritonText> TritonText::by(triton::TextReading reading) const {
  const std::string name = address_ ? with_reading(cut_.kernel, reading) : cut_.kernel;
  return std::make_shared<const TritonText>(name, CutName{name, cut_.cuts}, this);
}

std::shared_ptr<const TritonText> TritonText::named(const triton::TextAddress& address) const {
  const std::string name = triton::to_string(address);
  return std::make_shared<const TritonText>(name, CutName{name, {}}, this);
}

const Result<std::vector<triton::Offer>>& TritonText::offers() const {
  return offers_->get([&] { return triton::list_offers(address_->path); });
}

bool TritonText::open_choice() const {
  return offers() && offers()->size() > 1 && address_->words.empty() &&
         std::none_of(offers()->begin(), offers()->end(), [](const triton::Offer& offer) { return offer.usual; });
}

Result<SourcePtr> TritonText::opened() const {
  if (!address_) return address_.error();
  if (!offers()) return offers().error();
  if (!program() && offers()->size() < 2) return program().error();  // of several another one may be readable
  triton::TextAddress full = *address_;
  if (const Result<triton::LoweredLoop> meant = loop()) {
    full.loop = meant->site().number;
    const bool free_only = !meant->by(triton::TextReading::Triton) && meant->by(triton::TextReading::Free);
    if (!full.reading) full.reading = free_only ? triton::TextReading::Free : triton::TextReading::Triton;
  }
  return SourcePtr(named(full));
}

Result<SourcePtr> TritonText::with(const FilePart& part) const {
  triton::TextAddress other = *address_;
  if (part.words) {
    // The words of an offer are those of an address.
    const Result<triton::TextAddress> offered = triton::parse_address(part.words->empty() ? path() : path() + "#" + *part.words);
    if (!offered) return offered.error();
    other = *offered;
  }
  if (part.loop) other.loop = static_cast<int>(*part.loop);
  if (part.reading && !(other.reading = triton::parse_reading(*part.reading)))
    return Error::input("a Triton text has no reading " + *part.reading, "known: triton, free");
  if (part.words) return named(other)->opened();
  if (undecided()) return Error::input("no kernel is chosen yet", "choose one of those that the file holds");
  const std::shared_ptr<const TritonText> found = named(other);
  return found->lowered() ? Result<SourcePtr>(found) : found->lowered().error();
}

std::vector<Fault> TritonText::refused() const {
  if (open_choice()) return {{path(), {}, fmt::format("it holds {} kernels", offers()->size()), "choose one"}};
  return lowered() ? std::vector<Fault>() : lowered().error().faults;
}

const triton::LoopSite* TritonText::site() const {
  const Result<triton::LoweredLoop> meant = loop();
  return meant ? &meant->site() : nullptr;
}

TritonText::SharedProgram TritonText::program() const { return address_ ? text_->program() : address_.error(); }

Result<triton::LoweredLoop> TritonText::loop() const {
  const SharedProgram read = program();
  if (!read) return read.error();
  const triton::TritonProgram& program = **read;
  const Result<const triton::LoopSite*> site = triton::find_loop(program, *address_);
  if (!site) return site.error();
  return loop(**site);
}

triton::LoweredLoop TritonText::loop(const triton::LoopSite& site) const {
  return text_->loop(static_cast<std::size_t>(&site - (*program())->loops.data()));
}

const Result<TritonText::Lowered>& TritonText::lowered() const {
  return lowered_.get([&]() -> Result<Lowered> {
    const Result<triton::LoweredLoop> meant = loop();
    if (!meant) return meant.error();
    const auto& native = meant->by(reading());
    if (!native) return native.error();
    Lowered lowered{*meant, *native, (*native)->kernel, contradictions(meant->program())};
    lowered.notes.insert(lowered.notes.end(), (*native)->notes.begin(), (*native)->notes.end());
    if (reading() == triton::TextReading::Free && (*native)->cut.factor > 1) {
      if (Result<Kernel> cut = subtile(lowered.kernel, (*native)->cut))
        lowered.kernel = *std::move(cut);
      else
        lowered.notes.push_back(fmt::format("its tiles are not cut by {}, one part for each warp group: {}", (*native)->cut.factor,
                                            cut.error().faults.empty() ? "they cannot be" : cut.error().faults.front().message));
    }
    lowered.kernel.source = cut_.kernel;  // with what of the file is meant
    return lowered;
  });
}

Result<Kernel> TritonText::kernel(std::vector<Fault>*) const {
  if (!lowered()) return lowered().error();
  Result<Kernel> kernel = lowered()->kernel;
  for (const Subtile& part : cut_.cuts)
    if (kernel) kernel = subtile(*kernel, part);
  return kernel;
}

Result<Machine> TritonText::machine(std::vector<Fault>* warnings) const {
  const SharedProgram read = program();
  if (!read) return read.error();
  const Result<std::string> shipped = triton::machine_for(**read);
  return shipped ? load_machine(*shipped, warnings) : shipped.error();
}

Result<Constraints> TritonText::rules(const Problem& problem, bool) const {
  if (!lowered()) return lowered().error();
  if (reading() != triton::TextReading::Triton) return Constraints{};
  return triton::triton_rules(lowered()->loop.program(), *lowered()->native, problem);
}

bool TritonText::has_own() const { return reading() == triton::TextReading::Triton && lowered() && lowered()->native->has_own; }

Result<Schedule> TritonText::own_schedule(const Problem& problem) const {
  if (!lowered()) return lowered().error();
  const triton::Native& native = *lowered()->native;
  const auto fault = [&](std::string message, std::string hint, const char* part = "") {
    return Error{ErrorKind::Input, {{cut_.kernel, {}, std::move(message), std::move(hint), part}}};
  };
  if (reading() != triton::TextReading::Triton) return fault("Triton's own schedule is one of the triton reading", {}, "own schedule");
  if (!native.has_own)
    return fault("the text has no schedule of Triton's own" + (native.why_no_own.empty() ? "" : ": " + native.why_no_own),
                 "give a SCHEDULE, or solve it");
  if (!same_ops(native, problem))
    return fault(fmt::format("the text's own schedule has other ops than {}", problem.kernel), {}, "own schedule");
  std::optional<Schedule> schedule = triton::own_schedule(native, problem);
  if (!schedule || !form_violations(problem, *schedule).empty())
    return fault("the order of the text's own schedule cannot run: an op waits for itself", "heddle audit says which ops do");
  return *std::move(schedule);
}

std::vector<OwnSchedule> TritonText::own_schedules(const Problem& problem) const {
  if (!has_own()) return {};
  Result<Schedule> schedule = own_schedule(problem);
  if (!schedule) return {};
  schedule->name = triton::row_name(triton::Whose::Tritons);
  return {{schedule->name, {}, *std::move(schedule), true, false}};
}

std::string TritonText::why_no_own() const {
  const bool lacks = reading() == triton::TextReading::Triton && native() && !native()->has_own && !native()->why_no_own.empty();
  return lacks ? "no schedule of Triton's own: " + native()->why_no_own : std::string();
}

Error TritonText::in_own_words(Error error, const Kernel& kernel) const {
  return lowered() ? triton::unresolved_text(std::move(error), lowered()->loop.program(), *lowered()->native, kernel) : error;
}

std::vector<std::string> TritonText::notes() const { return lowered() ? lowered()->notes : std::vector<std::string>(); }

Result<triton::GivenBack> give_back(const TritonText::Lowered& lowered, const Problem& problem, const Schedule& schedule,
                                    const Machine& machine) {
  return triton::give_back(lowered.loop.program(), lowered.loop.site(), *lowered.native, problem, schedule, machine);
}

std::string with_reading(const std::string& name, triton::TextReading reading) {
  const Result<triton::TextAddress> address = triton::parse_address(name);
  if (!address) return name;
  triton::TextAddress with = *address;
  with.reading = reading;
  return triton::to_string(with);
}

Machine limits_of_target(const triton::TritonProgram& program) {
  if (const Result<std::string> name = triton::machine_for(program))
    if (Result<Machine> machine = load_machine(*name)) return *std::move(machine);
  Machine machine;
  machine.name = fmt::format("sm_{}", program.target);
  machine.arch = machine.name;
  machine.limits.smem_bytes = shared_limit(program.target);
  return machine;
}

}  // namespace heddle

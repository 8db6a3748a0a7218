#include "core/library/dump_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/analysis/period.h"
#include "core/base/atomic_file.h"
#include "core/base/text_style.h"
#include "core/check/checker.h"
#include "core/dump/dump_json.h"
#include "core/dump/native.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"

namespace heddle {
namespace {

constexpr int kMostVariants = 32;  ///< of a file, that are listed

/// The one to begin with.
const dump::DumpLoop& usual_loop(const dump::Dump& dump) {
  const auto first = [&](auto wanted) { return std::find_if(dump.loops.begin(), dump.loops.end(), wanted); };
  auto it = first([](const dump::DumpLoop& l) { return l.scheduled() && !l.outer; });
  if (it == dump.loops.end()) it = first([](const dump::DumpLoop& l) { return l.scheduled(); });
  if (it == dump.loops.end()) it = first([](const dump::DumpLoop& l) { return !l.nodes.empty(); });
  return *it;  // a dump has a loop with ops
}

/// Of the loop that an audit speaks of, by the compiler's reading.
std::string said_of_own(const dump::DumpLoopAudit& audit) {
  const std::size_t broken = audit.broken.size() + audit.slot_conflicts.size();
  const char* const joined = broken == 0 ? ", but" : " and";
  std::string own = broken == 0 ? "it is legal" : fmt::format("it breaks {}", count_of(broken, "rule"));
  if (audit.program.deadlock)
    own += fmt::format("{} its groups wait for each other", joined);
  else if (audit.unsustainable())
    own += fmt::format("{} its groups sustain {} cycles, not the stated {}", joined, audit.program.cycles(), audit.stated_ii);
  return own;
}

/// What both readings say of the schedule that this loop of a document stores. Null where it stores none.
std::shared_ptr<const BothReadings> judge(const dump::Dump& dump, const dump::DumpLoop& loop, const dump::DumpAudit& audit) {
  const auto index = static_cast<std::size_t>(&loop - dump.loops.data());
  const auto found = std::find_if(audit.loops.begin(), audit.loops.end(), [&](const dump::DumpLoopAudit& a) { return a.loop == index; });
  if (!loop.scheduled() || found == audit.loops.end()) return nullptr;
  BothReadings both;
  both.own = !found->illegal() && !found->unsustainable();
  constexpr dump::DumpReading kFull = dump::DumpReading::Full;
  const auto problem = make_problem(spec_of(dump::to_kernel(dump, loop, kFull), dump::to_machine(dump, loop, kFull)));
  const auto schedule = problem ? dump::to_schedule(dump, loop, *problem) : std::nullopt;
  std::string full = "it cannot be read";
  both.full = false;
  if (schedule) {
    const std::size_t count = check(*problem, *schedule, dump::problem_rules(dump, loop, *problem)).violations.size();
    const Period period = sustainable_period(*problem, *schedule);
    both.full = count == 0 && !period.deadlock;
    full = count == 0 ? "it is legal" : fmt::format("it breaks {}", count_of(count, "rule"));
    if (period.deadlock)
      full += " and deadlocks";
    else if (period.cycles() > schedule->ii)
      full += fmt::format(" and sustains {} cycles", period.cycles());
  }
  both.sentence = fmt::format("By the compiler's reading (issue slots) {}; by the full reading (occupancies, hand-offs, rings) {}.",
                              said_of_own(*found), full);
  return std::make_shared<const BothReadings>(std::move(both));
}

}  // namespace

DumpText::SharedDump DumpText::File::document(int variant) const {
  const std::lock_guard lock(mutex_);
  const auto known = documents_.find(variant);
  if (known != documents_.end()) return known->second;
  Result<dump::Dump> dump = dump::parse_dump(text_, path_, variant);
  const SharedDump read = dump ? SharedDump(std::make_shared<const dump::Dump>(*std::move(dump))) : dump.error();
  return documents_.emplace(variant, read).first->second;
}

const dump::DumpAudit& DumpText::File::audit(int variant) const {
  const SharedDump read = document(variant);
  const std::lock_guard lock(mutex_);
  const auto known = audits_.find(variant);
  return known != audits_.end() ? known->second : audits_.emplace(variant, dump::audit(**read)).first->second;
}

DumpText::DumpText(std::string words, CutName cut, std::shared_ptr<const File> file)
    : Source(SourceKind::Dump, std::move(words)),
      cut_(std::move(cut)),
      address_(dump::parse_address(cut_.kernel)),
      file_(std::move(file)) {}

Result<std::shared_ptr<const DumpText>> taken_for_dump(const std::string& name) {
  const Result<dump::DumpAddress> address = dump::parse_address(name);
  if (!address) return address.error();
  Result<std::string> text = read_file(address->path);
  if (!text) return text.error();
  return std::make_shared<const DumpText>(name, CutName{name, {}}, std::make_shared<const DumpText::File>(address->path, *std::move(text)));
}

DumpText::SharedDump DumpText::document() const { return address_ ? file_->document(address_->variant) : address_.error(); }

Result<const dump::DumpLoop*> DumpText::loop() const {
  const SharedDump dump = document();  // the file keeps it
  return dump ? dump::find_loop(**dump, *address_) : dump.error();
}

dump::DumpReading DumpText::reading() const { return address_->reading.value_or(dump::default_reading((*document())->format)); }

bool DumpText::names_machine() const { return cut_.cuts.empty() && name().find_first_of("./#") != std::string::npos; }

Result<Kernel> DumpText::kernel(std::vector<Fault>*) const {
  const Result<const dump::DumpLoop*> meant = loop();
  if (!meant) return meant.error();
  Result<Kernel> kernel = dump::to_kernel(**document(), **meant, reading());
  kernel->source = cut_.kernel;  // with what of the file is meant
  for (const Subtile& part : cut_.cuts)
    if (kernel) kernel = subtile(*kernel, part);
  return kernel;
}

Result<Machine> DumpText::machine(std::vector<Fault>*) const {
  const Result<const dump::DumpLoop*> meant = loop();
  if (!meant) return meant.error();
  Machine machine = dump::to_machine(**document(), **meant, reading());
  machine.file = cut_.kernel;
  return machine;
}

Result<Constraints> DumpText::rules(const Problem& problem, bool emitter) const {
  if (!names_machine()) return Constraints{};
  const Result<const dump::DumpLoop*> meant = loop();
  if (!meant) return meant.error();
  const dump::Dump& dump = **document();
  Constraints rules = dump::problem_rules(dump, **meant, problem);
  if (emitter)
    for (UserConstraint& rule : dump::emitter_rules(**meant, problem, dump::registers_beside(dump, **meant)))
      rules.push_back(std::move(rule));
  return rules;
}

bool DumpText::has_own() const {
  const Result<const dump::DumpLoop*> meant = loop();
  return meant && (*meant)->scheduled();
}

Result<Schedule> DumpText::own_schedule(const Problem& problem) const {
  const SharedDump dump = document();
  if (!dump) return dump.error();
  return with_form(dump::stored_schedule(**dump, *address_, problem), cut_.kernel, problem);
}

std::vector<OwnSchedule> DumpText::own_schedules(const Problem& problem) const {
  std::vector<OwnSchedule> found;
  const auto has_ops = [&](const dump::DumpLoop& loop) { return loop.scheduled() && dump::has_ops_of(loop, problem); };
  const auto& loops = the_dump().loops;
  const auto other = std::find_if(loops.begin(), loops.end(), has_ops);
  // Asked about another file's problem: the loop that has its ops.
  const dump::DumpLoop& wanted = dump::has_ops_of(the_loop(), problem) || other == loops.end() ? the_loop() : *other;
  for (const int variant : variants()) {
    const SharedDump read = file_->document(variant);
    for (const dump::DumpLoop& loop : (*read)->loops) {
      if (loop.id != wanted.id) continue;
      std::optional<Schedule> schedule = dump::to_schedule(**read, loop, problem);
      if (!schedule) continue;
      schedule->name = (*read)->variants > 0 ? fmt::format("variant {}", (*read)->variant) : "stored";
      found.push_back({schedule->name, name_with(wanted.id, reading(), variant), *std::move(schedule), variant == address_->variant, true,
                       judge(**read, loop, file_->audit(variant))});
    }
  }
  return found;
}

std::string DumpText::name_with(std::int64_t loop, dump::DumpReading reading, int variant) const {
  std::string name = fmt::format("{}#{},{}", file_->path(), loop, to_string(reading));
  const dump::Dump& dump = **file_->document(variant);
  return dump.variants > 0 ? name + fmt::format(",variant{}", dump.variant) : name;
}

std::string DumpText::name_of(int variant) const { return name_with(the_loop().id, reading(), variant); }

SourcePtr DumpText::named(std::int64_t loop, dump::DumpReading reading) const {
  const std::string name = name_with(loop, reading, address_->variant);
  return std::make_shared<const DumpText>(name, CutName{name, {}}, file_);
}

std::vector<int> DumpText::variants() const {
  std::vector<int> listed;
  for (int variant = 0; variant < std::max(1, the_dump().variants); ++variant)
    if (variant < kMostVariants || variant == address_->variant) listed.push_back(variant);
  return listed;
}

std::string DumpText::left_out() const {
  const std::size_t listed = variants().size(), all = static_cast<std::size_t>(std::max(1, the_dump().variants));
  if (listed == all) return {};
  return fmt::format("{}: the first {} variants are in the list, {} more are not; name one as FILE#variantN",
                     std::filesystem::path(path()).filename().string(), listed, all - listed);
}

Result<SourcePtr> DumpText::opened() const {
  if (const SharedDump meant = document(); !meant) return meant.error();
  for (const int variant : variants())
    if (const SharedDump read = file_->document(variant); !read) return read.error();
  if (!address_->loop) return named(usual_loop(the_dump()).id, reading());
  const Result<const dump::DumpLoop*> named_loop = loop();
  return named_loop ? Result<SourcePtr>(named((*named_loop)->id, reading())) : named_loop.error();
}

Result<SourcePtr> DumpText::with(const FilePart& part) const {
  dump::DumpAddress address = *address_;
  if (part.loop) address.loop = part.loop;
  if (part.reading && !(address.reading = dump::parse_reading(*part.reading)))
    return Error::input("a dump has no reading " + *part.reading, "known: full, issue-slots");
  const Result<const dump::DumpLoop*> found = dump::find_loop(the_dump(), address);
  return found ? Result<SourcePtr>(named((*found)->id, address.reading.value_or(reading()))) : found.error();
}

std::string DumpText::subject() const {
  const dump::Dump& dump = the_dump();
  return dump.loops.size() > 1 ? fmt::format("{} · loop {}", printable(dump.kernel), the_loop().id) : printable(dump.kernel);
}

std::string DumpText::audit_name() const {
  return the_dump().variants > 0 ? path() + fmt::format("#variant{}", the_dump().variant) : path();
}

}  // namespace heddle

#include "core/library/dump_text.h"

#include "core/base/atomic_file.h"
#include "core/dump/dump_json.h"
#include "core/dump/native.h"
#include "core/formats/schedule_json.h"

namespace heddle {

DumpText::SharedDump DumpText::File::document(int variant) const {
  const std::lock_guard lock(mutex_);
  const auto known = documents_.find(variant);
  if (known != documents_.end()) return known->second;
  Result<dump::Dump> dump = dump::parse_dump(text_, path_, variant);
  const SharedDump read = dump ? SharedDump(std::make_shared<const dump::Dump>(*std::move(dump))) : dump.error();
  return documents_.emplace(variant, read).first->second;
}

DumpText::DumpText(std::string words, CutName cut, std::shared_ptr<const File> file)
    : Source(SourceKind::Dump, std::move(words)),
      cut_(std::move(cut)),
      address_(dump::parse_address(cut_.kernel)),
      file_(std::move(file)) {}

Result<std::shared_ptr<const DumpText>> taken_for_dump(const std::string& name) {
  const Result<dump::Address> address = dump::parse_address(name);
  if (!address) return address.error();
  Result<std::string> text = read_file(address->path);
  if (!text) return text.error();
  return std::make_shared<const DumpText>(name, CutName{name, {}}, std::make_shared<const DumpText::File>(address->path, *std::move(text)));
}

DumpText::SharedDump DumpText::document() const { return address_ ? file_->document(address_->variant) : address_.error(); }

Result<const dump::Loop*> DumpText::loop() const {
  const SharedDump dump = document();  // the file keeps it
  return dump ? dump::find_loop(**dump, *address_) : dump.error();
}

dump::Reading DumpText::reading() const { return address_->reading.value_or(dump::default_reading((*document())->format)); }

bool DumpText::names_machine() const { return cut_.cuts.empty() && name().find_first_of("./#") != std::string::npos; }

Result<Kernel> DumpText::kernel(std::vector<Fault>*) const {
  const Result<const dump::Loop*> meant = loop();
  if (!meant) return meant.error();
  Result<Kernel> kernel = dump::to_kernel(**document(), **meant, reading());
  kernel->source = cut_.kernel;  // with what of the file is meant
  for (const Subtile& part : cut_.cuts)
    if (kernel) kernel = subtile(*kernel, part);
  return kernel;
}

Result<Machine> DumpText::machine(std::vector<Fault>*) const {
  const Result<const dump::Loop*> meant = loop();
  if (!meant) return meant.error();
  Machine machine = dump::to_machine(**document(), **meant, reading());
  machine.file = cut_.kernel;
  return machine;
}

Result<Constraints> DumpText::rules(const Problem& problem, bool emitter) const {
  if (!names_machine()) return Constraints{};
  const Result<const dump::Loop*> meant = loop();
  if (!meant) return meant.error();
  const dump::Dump& dump = **document();
  Constraints rules = dump::problem_rules(dump, **meant, problem);
  if (emitter)
    for (UserConstraint& rule : dump::emitter_rules(**meant, problem, dump::registers_beside(dump, **meant)))
      rules.push_back(std::move(rule));
  return rules;
}

bool DumpText::has_own() const {
  const Result<const dump::Loop*> meant = loop();
  return meant && (*meant)->scheduled();
}

Result<Schedule> DumpText::own_schedule(const Problem& problem) const {
  const SharedDump dump = document();
  if (!dump) return dump.error();
  return with_form(dump::stored_schedule(**dump, *address_, problem), cut_.kernel, problem);
}

}  // namespace heddle

// heddle audit: what is wrong with the schedules that a compiler made, on one screen. Each file is of one compiler or the other, by its
// content.
#include "app/cli/audit_page.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/option_words.h"
#include "core/answers/summary.h"
#include "core/base/json.h"
#include "core/library/dump_text.h"
#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

Result<AuditPage> audit_of(const std::string& name, const Arguments& arguments, const Terminal& terminal, std::size_t files_left) {
  const std::shared_ptr<const Source> source = compilers_file(name);
  if (source && source->triton()) return audit_of(*source->triton(), arguments, terminal, files_left);
  if (source && source->dump()) return audit_of(*source->dump(), arguments, terminal, files_left);
  const Result<std::shared_ptr<const DumpText>> text = taken_for_dump(name);
  return text ? audit_of(**text, arguments, terminal, files_left) : text.error();
}

}  // namespace

int run_audit(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), markdown = arguments.has("--markdown");
  if (json && markdown) return refuse(terminal, "--json and --markdown both want standard output; give one of them", json);
  int code = kDone;
  Json all = Json::array();
  bool first = true;
  const std::vector<std::string>& files = arguments.all("FILES");
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::string& name = files[file];
    Result<AuditPage> page = audit_of(with_dump_options(name, arguments), arguments, terminal, files.size() - file);
    if (!page) {
      code = report(terminal, page.error(), false);
      all.push(Json::object()
                   .set("file", name)
                   .set("error", code == kInvalidInput ? "input" : "environment")
                   .set("faults", faults_json(in_options(page.error()).faults)));
      continue;
    }
    if (json)
      all.push(std::move(page->json.set("file", name)));
    else if (terminal.quiet)
      terminal.out << page->headline << "\n";
    else
      terminal.out << (first ? "" : "\n") << (markdown ? page->markdown : page->text);
    first = false;
    if (!page->clean && code == kDone) code = kNegative;
    if (page->interrupted) {
      code = kInterrupted;
      break;
    }
  }
  if (json) terminal.out << (files.size() == 1 ? (*all.items())[0] : all).pretty();
  return code;
}

}  // namespace heddle::app

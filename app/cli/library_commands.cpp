// heddle list and heddle schema: what ships with the program, and what a folder or log of Triton's holds.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/schemas.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "core/base/json.h"
#include "core/base/suggest.h"
#include "core/kernel/op_kind.h"
#include "core/library/library.h"
#include "core/triton/read/files.h"

namespace heddle::app {
namespace {

struct Item {
  std::string name, about;
};

struct Section {
  const char* title;
  std::vector<Item> items;
};

/// The first sentence.
std::string brief(const std::string& about) {
  const std::size_t end = about.find(". ");
  return printable(end == std::string::npos ? about : about.substr(0, end + 1));
}

std::vector<Item> shipped(Shelf shelf) {
  std::vector<Item> items;
  for (const LibraryEntry& entry : list_library(shelf)) {
    std::string about;
    if (shelf == Shelf::Kernels) {
      if (const Result<Kernel> kernel = load_kernel(entry.path)) about = kernel->about;
    } else if (shelf == Shelf::Machines) {
      if (const Result<Machine> machine = load_machine(entry.path)) about = machine->about;
    }
    items.push_back({entry.name, about});
  }
  return items;
}

std::vector<Item> kinds() {
  std::vector<Item> items;
  for (const OpKind& kind : op_kinds()) items.push_back({kind.name, kind.about});
  return items;
}

/// The texts in a file or folder of Triton's, with the words that mean each.
int list_texts(const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  const Result<std::vector<triton::Offer>> offers = triton::list_offers(path);
  if (!offers) return report(terminal, offers.error(), arguments.has("--json"));
  const auto name_of = [&](const triton::Offer& offer) { return offer.words.empty() ? path : path + "#" + offer.words; };
  if (arguments.has("--json")) {
    Json list = Json::array();
    for (const triton::Offer& offer : *offers)
      list.push(Json::object()
                    .set("name", name_of(offer))
                    .set("title", offer.title)
                    .set("kernel", offer.kernel)
                    .set("detail", offer.detail)
                    .set("usual", offer.usual));
    terminal.out << Json::object().set("texts", std::move(list)).pretty();
    return kDone;
  }
  if (terminal.quiet) {
    for (const triton::Offer& offer : *offers) terminal.out << styled(name_of(offer), terminal.style) << "\n";
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const triton::Offer& offer : *offers)
    rows.push_back({styled(name_of(offer), terminal.style), styled(offer.title, terminal.style),
                    styled(offer.detail + (offer.usual && offers->size() > 1 ? " (the usual one)" : ""), terminal.style)});
  terminal.out << text_table({{"name"}, {"what"}, {"about"}}, rows, terminal.style.width);
  return kDone;
}

}  // namespace

int run_list(const Arguments& arguments, const Terminal& terminal) {
  if (const auto what = arguments.text("WHAT"))
    if (what != "kernels" && what != "machines" && what != "schedules" && what != "kinds") return list_texts(*what, arguments, terminal);
  if (const Result<std::string> root = library_root(); !root) return report(terminal, root.error(), arguments.has("--json"));
  const auto what = arguments.text("WHAT");
  const auto wanted = [&](const char* title) { return !what || *what == title; };
  std::vector<Section> sections;
  if (wanted("kernels")) sections.push_back({"kernels", shipped(Shelf::Kernels)});
  if (wanted("machines")) sections.push_back({"machines", shipped(Shelf::Machines)});
  if (wanted("schedules")) sections.push_back({"schedules", shipped(Shelf::Schedules)});
  if (wanted("kinds")) sections.push_back({"kinds", kinds()});

  if (arguments.has("--json")) {
    Json all = Json::object();
    for (const Section& section : sections) {
      Json items = Json::array();
      for (const Item& item : section.items) items.push(Json::Object{{"name", item.name}, {"about", item.about}});
      all.set(section.title, std::move(items));
    }
    terminal.out << all.pretty();
    return kDone;
  }
  std::string text;
  for (const Section& section : sections) {
    if (terminal.quiet) {
      for (const Item& item : section.items) text += item.name + "\n";
      continue;
    }
    if (section.items.empty() && !what) continue;
    std::vector<std::vector<std::string>> rows;
    std::size_t longest = 0;
    for (const Item& item : section.items) longest = std::max(longest, item.name.size());
    const int room = std::max(20, terminal.style.width - static_cast<int>(longest) - 4);
    for (const Item& item : section.items) rows.push_back({item.name, shortened(brief(item.about), room)});
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", section.title);
    text += rows.empty() ? "  none\n" : text_table({{"name"}, {"about"}}, rows);
  }
  terminal.out << text;
  return kDone;
}

int run_schema(const Arguments& arguments, const Terminal& terminal) {
  for (const SchemaKind& kind : schema_kinds())
    if (kind.name == *arguments.text("KIND")) terminal.out << kind.schema().pretty();
  return kDone;
}

}  // namespace heddle::app

#include "app/session/window_link.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/session/environment.h"
#include "app/session/open_document.h"
#include "app/session/project.h"
#include "app/session/solving.h"
#include "app/session/texts.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/process.h"
#include "core/library/project_json.h"

namespace heddle::app {
namespace {

constexpr const char* kAnotherWindow = "--another-window";
constexpr int kLinkDescriptor = 3;
constexpr std::size_t kLongestMessage = std::size_t{64} << 10;

std::string text_of(const LinkedView& view) {
  Json names = Json::array();
  for (const std::string& op : view.selection) names.push(op);
  Json message(Json::Object{{"kernel", view.kernel}, {"selection", std::move(names)}});
  if (view.visible) message.set("begin", view.visible->first).set("end", view.visible->second);
  return message.line();
}

std::optional<LinkedView> view_of(std::string_view text) {
  const auto message = parse_json(text, "");
  if (!message.ok()) return std::nullopt;
  LinkedView view;
  const Json *kernel = message->find("kernel"), *names = message->find("selection"), *begin = message->find("begin"),
             *end = message->find("end");
  if (!kernel || !kernel->string() || !names || !names->items()) return std::nullopt;
  view.kernel = *kernel->string();
  for (const Json& name : *names->items())
    if (name.string()) view.selection.push_back(*name.string());
  if (begin && end && begin->integer() && end->integer() && *begin->integer() < *end->integer())
    view.visible = {*begin->integer(), *end->integer()};
  return view;
}

Error no_window(const std::string& what) { return Error::environment(fmt::format("no other window can be opened: {}", what)); }

}  // namespace

WindowLink::WindowLink(Descriptor socket, std::function<void()> wake)
    : socket_(std::move(socket)), wake_(std::move(wake)), thread_([this] { hear(); }) {}

WindowLink::~WindowLink() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

void WindowLink::hear() {
  std::string buffer(kLongestMessage, '\0');
  while (true) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    auto view = got > 0 ? view_of(std::string_view(buffer.data(), static_cast<std::size_t>(got))) : std::nullopt;
    {
      const std::lock_guard lock(mutex_);
      if (got <= 0) gone_ = true;
      if (view) heard_ = std::move(view);
    }
    if (wake_) wake_();
    if (got <= 0) return;
  }
}

bool WindowLink::send(const LinkedView& view) const {
  const std::string text = text_of(view);
  if (text.size() > kLongestMessage) return true;  // of thousands of ops: not worth waiting for
  return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

std::optional<LinkedView> WindowLink::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(heard_, std::nullopt);
}

bool WindowLink::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

Result<Descriptor> open_another_window(const std::string& project, int number) {
  const Descriptor file(::memfd_create("heddle-project", MFD_CLOEXEC));
  if (!file.valid()) return no_window(std::strerror(errno));
  if (const int failed = write_all(file.get(), project); failed != 0) return no_window(std::strerror(failed));
  ::lseek(file.get(), 0, SEEK_SET);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return no_window(std::strerror(errno));
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  Process child({{program, kAnotherWindow, std::to_string(number)}, {{STDIN_FILENO, file.get()}, {kLinkDescriptor, theirs.get()}}});
  if (child.failure() != 0) return no_window(fmt::format("{} cannot be started: {}", program, std::strerror(child.failure())));
  // It goes on in a process of its own at once.
  if (const ProcessEnd end = child.wait(); end.code != 0) return no_window(program + " ended at once");
  return ours;
}

std::optional<HandedOver> take_hand_over(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != kAnotherWindow) return std::nullopt;
  if (const pid_t child = ::fork(); child != 0) ::_exit(child < 0 ? 1 : 0);
  ::setsid();
  HandedOver handed;
  if (auto text = read_file("/dev/stdin"); text.ok()) handed.project = *std::move(text);
  handed.number = std::clamp(std::atoi(argv[2]), 2, 99);
  handed.link = std::make_shared<Descriptor>(kLinkDescriptor);
  return handed;
}

namespace {

constexpr double kSettles = 0.3;  ///< seconds: what a chart makes of cycles that it was told is not news to tell

}  // namespace

std::string OtherWindows::why_no_window(bool baseline) const {
  if (std::string reason = projects_.why_no_save(); !reason.empty()) return reason;
  if (baseline && !content_.baseline_entry()) return "there is no B yet: press B on a schedule";
  if (!environment_.open_window) return "this window has no display on which another could stand";
  return {};
}

void OtherWindows::begin(std::optional<HandedOver> given) {
  if (!given) return;
  const HandedOver handed = *std::move(given);
  std::vector<Fault> warnings;
  auto project = parse_project(handed.project, {}, {}, &warnings);
  if (!project) return fail("The other window's work cannot be shown", project.error());
  projects_.take_project(*project, {}, "open another window");
  solving_.recall_proofs();
  projects_.call_saved();  // the other window has it, too
  number_ = last_ = handed.number;
  quiet_until_ = now() + 1;
  links_.push_back(std::make_unique<WindowLink>(std::move(*handed.link), environment_.wake));
}

void OtherWindows::on(const OpenWindow& c) {
  if (const std::string reason = why_no_window(c.baseline); !reason.empty()) return say(LogLevel::Warning, "no window: " + reason);
  const bool first = links_.empty();
  if (first) number_ = last_ = 1;
  Project project = to_project(content_, document_.selection, view_);
  texts_.add_texts(project);
  project.view.choices.erase("chart");
  if (c.baseline) project.shown = project.baseline;
  project.baseline.reset();
  const int number = last_ + 1;
  auto link = environment_.open_window(project_text(project, {}), number);
  if (!link) return fail("No other window", link.error());
  last_ = number;
  known_ = linked_view();
  links_.push_back(std::make_unique<WindowLink>(std::move(link).value(), environment_.wake));
  say(LogLevel::Info,
      fmt::format("window {}: {}", number, project.shown ? project.schedules[*project.shown].name : project.spec.kernel->name));
  changed();
}

LinkedView OtherWindows::linked_view() const {
  LinkedView view;
  if (!content_.problem) return view;
  view.kernel = content_.kernel->name;
  view.visible = view_.chart.visible;
  for (const OpId op : document_.selection.ops) view.selection.push_back(content_.problem->op(op).name);
  return view;
}

void OtherWindows::follow(const LinkedView& view) {
  if (!content_.problem || content_.kernel->name != view.kernel) return;
  if (view.visible) view_.restored_chart = ChartKept{view.visible, view_.chart.switches};
  std::vector<OpId> ops;
  for (const std::string& name : view.selection)
    if (const OpId op = content_.problem->find_op(name); op.valid()) ops.push_back(op);
  quiet_until_ = now() + kSettles;
  if (ops == document_.selection.ops) return;
  document_.selection.ops = std::move(ops);
  changed();
}

bool OtherWindows::pump() {
  if (links_.empty()) return false;
  bool news = false;
  for (const auto& link : links_) {
    const auto view = link->take();
    if (!view) continue;
    news = true;
    follow(*view);
    for (const auto& other : links_)
      if (other != link) (void)other->send(*view);
  }
  if (std::erase_if(links_, [](const auto& link) { return link->gone(); }) > 0) {
    say(LogLevel::Info, "the other window was closed");
    news = true;
    changed();
  }
  if (view_.restored_chart) return news;  // the chart is not there yet
  LinkedView view = linked_view();
  if (view == known_) return news;
  const bool told = now() < quiet_until_ || std::all_of(links_.begin(), links_.end(), [&](const auto& link) { return link->send(view); });
  if (told) known_ = std::move(view);
  return news;
}

}  // namespace heddle::app

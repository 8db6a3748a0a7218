// A window that is started finds its project on standard input and its end of the link at descriptor 3.
#include "app/session/window_link.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/process.h"

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

}  // namespace heddle::app

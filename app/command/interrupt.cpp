// The handler may only do what is safe in a signal: it posts a semaphore, and a thread turns that into a stop request.
#include "app/command/interrupt.h"

#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <thread>

#include "app/command/exit_code.h"

namespace heddle::app {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

sem_t signalled;
std::atomic<int> signals{0};

extern "C" void heddle_on_interrupt(int signal) {
  if (signals.fetch_add(1) > 0 && signal != SIGHUP) _exit(kInterrupted);
  sem_post(&signalled);
}

/// False: time was up first.
bool wait_until(const Deadline& deadline) {
  const double left = deadline.left();
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec += static_cast<std::time_t>(left);
  at.tv_nsec += static_cast<long>((left - static_cast<double>(static_cast<std::time_t>(left))) * 1e9);
  if (at.tv_nsec >= 1'000'000'000) {
    ++at.tv_sec;
    at.tv_nsec -= 1'000'000'000;
  }
  while (sem_timedwait(&signalled, &at) != 0)
    if (errno == ETIMEDOUT) {  // the one clock may be a little ahead of the other
      std::this_thread::sleep_until(deadline.at());
      return false;
    }
  return true;
}

}  // namespace

struct InterruptScope::State {
  std::stop_source source;
  std::atomic<bool> expired{false};
  std::thread watcher;
  std::array<struct sigaction, kSignals.size()> before{};
};

InterruptScope::InterruptScope(const Deadline& deadline) : state_(new State) {
  sem_init(&signalled, 0, 0);
  if (interrupted()) state_->source.request_stop();
  state_->watcher = std::thread([state = state_, deadline] {
    if (!wait_until(deadline)) {
      state->expired = signals.load() == 0;
      state->source.request_stop();
      while (sem_wait(&signalled) != 0) {
      }
    }
    if (signals.load() > 0) state->source.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = heddle_on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &state_->before[i]);
    const bool ignored = kSignals[i] == SIGHUP && state_->before[i].sa_handler == SIG_IGN;
    if (!ignored) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &state_->before[i], nullptr);
  sem_post(&signalled);
  state_->watcher.join();
  sem_destroy(&signalled);
  delete state_;
}

std::stop_token InterruptScope::token() const { return state_->source.get_token(); }

bool InterruptScope::interrupted() const { return signals.load() > 0; }

bool InterruptScope::timed_out() const { return state_->expired; }

void InterruptScope::begin_command() { signals = 0; }

}  // namespace heddle::app

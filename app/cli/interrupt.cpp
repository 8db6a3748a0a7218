// The handler may only do what is safe in a signal: it posts a semaphore, and a thread turns that into a stop request.
#include "app/cli/interrupt.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "app/cli/cli.h"

namespace heddle::app {
namespace {

sem_t signalled;
std::atomic<int> signals{0};

extern "C" void heddle_on_interrupt(int) {
  if (signals.fetch_add(1) > 0) _exit(kInterrupted);
  sem_post(&signalled);
}

}  // namespace

struct InterruptScope::State {
  std::stop_source source;
  std::thread watcher;
  struct sigaction old_interrupt {
  }, old_terminate{};
};

InterruptScope::InterruptScope() : state_(new State) {
  signals = 0;
  sem_init(&signalled, 0, 0);
  state_->watcher = std::thread([source = state_->source]() mutable {
    while (sem_wait(&signalled) != 0) {
    }
    if (signals.load() > 0) source.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = heddle_on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &state_->old_interrupt);
  sigaction(SIGTERM, &action, &state_->old_terminate);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &state_->old_interrupt, nullptr);
  sigaction(SIGTERM, &state_->old_terminate, nullptr);
  sem_post(&signalled);
  state_->watcher.join();
  sem_destroy(&signalled);
  delete state_;
}

std::stop_token InterruptScope::token() const { return state_->source.get_token(); }

bool InterruptScope::interrupted() const { return signals.load() > 0; }

}  // namespace heddle::app

// The start of a session with JVMs and jtraces that do not match. The JVM is made of two function tables, and Start is
// in the socket before the agent asks for it.
#include "agent/handshake.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "agent/control_socket.h"
#include "agent/jvm_fitness.h"
#include "agent/jvm_support.h"
#include "base/file.h"
#include "trace/record/pool_format.h"

namespace jtrace::agent {
namespace {

// A JVM with what the handshake uses. Only one at a time.
class FakeJvm {
 public:
  FakeJvm() {
    tools_.GetSystemProperty = [](jvmtiEnv*, const char* property, char** value) {
      const std::string_view wanted = property;
      *value = const_cast<char*>(wanted == "java.vm.name" ? current_->name : current_->specification);
      return JVMTI_ERROR_NONE;
    };
    tools_.GetVersionNumber = [](jvmtiEnv*, jint* out) {
      *out = current_->version;
      return JVMTI_ERROR_NONE;
    };
    tools_.Deallocate = [](jvmtiEnv*, unsigned char*) { return JVMTI_ERROR_NONE; };
    tools_.DisposeEnvironment = [](jvmtiEnv*) { return JVMTI_ERROR_NONE; };
    calls_.GetEnv = [](JavaVM*, void** env, jint) -> jint {
      *env = &current_->env_;
      return current_->has_jvmti ? JNI_OK : JNI_EVERSION;
    };
    current_ = this;
  }
  FakeJvm(const FakeJvm&) = delete;
  FakeJvm& operator=(const FakeJvm&) = delete;
  ~FakeJvm() { current_ = nullptr; }
  JavaVM* vm() { return &vm_; }
  jvmtiEnv* jvmti() { return &env_; }

  bool has_jvmti = true;
  const char* name = "OpenJDK 64-Bit Server VM";
  const char* specification = "17";
  jint version = 17 << JVMTI_VERSION_SHIFT_MAJOR;

 private:
  static inline FakeJvm* current_ = nullptr;
  jvmtiInterface_1 tools_{};
  JNIInvokeInterface_ calls_{};
  jvmtiEnv env_{&tools_};
  JavaVM vm_{&calls_};
};

class Handshake : public ::testing::Test {
 protected:
  Handshake() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent_ = UniqueFd(ends[0]);
    jtrace_ = UniqueFd(ends[1]);
  }
  void send_refusal(std::string_view text) {
    ByteBuffer payload;
    payload.put_text(text);
    EXPECT_TRUE(send_frame(jtrace_.get(), record::FrameType::kRefused, payload));
  }
  // Start with an empty pool.
  void send_start(std::uint32_t version) {
    UniqueFd pool(::memfd_create("pool", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(pool.get(), record::kMinimumPoolSize), 0);
    void* memory = ::mmap(nullptr, record::kMinimumPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, pool.get(), 0);
    record::format_pool(memory, record::kMinimumPoolSize);
    ::munmap(memory, record::kMinimumPoolSize);
    ByteBuffer payload, frame;
    write_fields(payload, record::StartFields{.version = version});
    frame.put(record::FrameHeader{record::FrameType::kStart, static_cast<std::uint32_t>(payload.size())});
    frame.put_bytes(payload.data(), payload.size());
    iovec part{const_cast<unsigned char*>(frame.data()), frame.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = pool.get();
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    ASSERT_EQ(::sendmsg(jtrace_.get(), &message, 0), static_cast<ssize_t>(frame.size()));
  }
  // The reason why no session began.
  std::string refused() {
    Reason reason;
    EXPECT_EQ(begin_session(jvm_.vm(), std::move(agent_), true, "", reason), nullptr);
    return reason.text;
  }
  // The text of the agent's Started, after its Hello.
  std::string told(record::StartStatus status = record::StartStatus::kFailed) {
    Frame frame;
    while (receive_frame(jtrace_.get(), frame) && frame.type != record::FrameType::kStarted) {
    }
    ByteReader reader(frame.payload);
    EXPECT_EQ(reader.read<std::uint32_t>(), static_cast<std::uint32_t>(status));
    EXPECT_EQ(reader.read<std::uint64_t>(), 0u);
    return std::string(reader.read_text(reader.read<std::uint32_t>()));
  }

  FakeJvm jvm_;
  UniqueFd agent_;
  UniqueFd jtrace_;
};

TEST_F(Handshake, AJtraceOfAnotherVersionIsRefused) {
  send_start(record::kControlVersion + 1);
  EXPECT_EQ(refused(), "this agent and jtrace are of different versions");
  EXPECT_EQ(told(), "this agent and jtrace are of different versions");
}

TEST_F(Handshake, AJvmThatIsTracedIsReportedByTheStatus) {
  alignas(AgentSession) char other[sizeof(AgentSession)];
  CallbackGuard::current().store(reinterpret_cast<Recorder*>(other));
  send_start(record::kControlVersion);
  EXPECT_EQ(refused(), "this JVM is being traced already");
  CallbackGuard::current().store(nullptr);
  EXPECT_EQ(told(record::StartStatus::kAlreadyTraced), "this JVM is being traced already");
}

TEST_F(Handshake, AJvmWithoutJvmTiIsRefused) {
  jvm_.has_jvmti = false;
  send_start(record::kControlVersion);
  EXPECT_EQ(refused(), "this JVM has no JVM TI 1.2");
  EXPECT_EQ(told(), "this JVM has no JVM TI 1.2");
}

TEST_F(Handshake, AfterARefusalNoPoolIsMapped) {
  jvm_.has_jvmti = false;
  send_start(record::kControlVersion);
  EXPECT_EQ(refused(), "this JVM has no JVM TI 1.2");
  EXPECT_EQ(read_file("/proc/self/maps").value_or("").find("memfd:pool"), std::string::npos);
}

TEST_F(Handshake, AnotherVmThanHotSpotIsRefused) {
  jvm_.name = "Eclipse OpenJ9 VM";
  send_start(record::kControlVersion);
  EXPECT_EQ(refused(), "this JVM is OpenJ9; only HotSpot can be traced");
  EXPECT_EQ(told(), "this JVM is OpenJ9; only HotSpot can be traced");
}

TEST_F(Handshake, AJvmThatIsTooOldIsRefused) {
  jvm_.specification = "1.7";
  send_start(record::kControlVersion);
  EXPECT_EQ(refused(), "this JVM is older than JDK 8, the first that can be traced");
}

TEST_F(Handshake, AReasonComesWhole) {
  const std::string path(4096, 'x');
  send_refusal("cannot open: /" + path + ": File name too long");
  EXPECT_EQ(refused(), "cannot open: /" + path + ": File name too long");
}

TEST_F(Handshake, AHangUpIsReported) {
  jtrace_.reset();
  EXPECT_EQ(refused(), "jtrace hung up before it answered");
}

TEST(Complain, IsOneLine) {
  testing::internal::CaptureStderr();
  complain("unknown option 'a\nb\x1b[1m'");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "jtrace: not traced: unknown option 'a?b?[1m'\n");
}

TEST(UnfitJvm, HotSpotFrom8OnIsFit) {
  FakeJvm jvm;
  for (const char* version : {"1.8", "9", "11", "27"}) {
    jvm.specification = version;
    EXPECT_EQ(unfit_jvm(jvm.jvmti()), nullptr) << version;
  }
}

TEST(WhyNotOffered, SaysWhatWouldHelp) {
  FakeJvm jvm;
  constexpr unsigned kMonitorEvents = 28;
  EXPECT_EQ(why_not_offered(kCanGenerateSampledObjectAllocEvents, jvm.jvmti(), true), "another agent holds it");
  EXPECT_EQ(why_not_offered(kCanSupportVirtualThreads, jvm.jvmti(), true), "JDK 21 and later have it");
  EXPECT_EQ(why_not_offered(kMonitorEvents, jvm.jvmti(), true),
            "this JVM offers it only at its start: start it with -agentpath");
  EXPECT_EQ(why_not_offered(kMonitorEvents, jvm.jvmti(), false), "this JVM does not have it");
  jvm.version = 0x30010203;  // JDK 8: JVM TI 1.2.3
  EXPECT_EQ(why_not_offered(kCanGenerateSampledObjectAllocEvents, jvm.jvmti(), true), "JDK 11 and later have it");
}

}  // namespace
}  // namespace jtrace::agent

#include "trace/io/sddf_format.h"

namespace jtrace::trace::io {
namespace {

constexpr SddfField kProcess{"Process", "Process ID", "int", "Process ID"};
constexpr SddfField kThread{"Thread", "Thread ID", "int", "Thread ID"};
constexpr SddfField kTag{"Tag", "Tag ID", "int", "Tag of the message"};

constexpr SddfField kOfProcess[] = {kProcess};
constexpr SddfField kOfThread[] = {kProcess, kThread};
constexpr SddfField kLabel[] = {kProcess, {"Label", "Name of Process", "char", "Label", true}};
constexpr SddfField kNewThread[] = {kProcess, kThread, {"Outport", "Outport ID", "int", "Outport ID"}};
constexpr SddfField kBlock[] = {kProcess,
                                kThread,
                                {"Receiving Channel", "Inport ID", "int", "Inport ID"},
                                {"Block Reason tag", "Block Reason", "int", "Block Reason"}};
constexpr SddfField kSend[] = {{"Sending Process", "Sending Process ID", "int", "Sender Process ID"},
                               {"Sending Channel", "Outport ID", "int", "Outport ID"},
                               {"Receiving Processor", "Receiving Processor Number", "int", "Receiving Processor ID"},
                               {"Receiving Process", "Receiving Process ID", "int", "Receiving Process ID"},
                               {"Receiving Channel", "Inport ID", "int", "Inport ID"},
                               kTag};
constexpr SddfField kReceive[] = {{"Receiving Process", "Receiving Process ID", "int", "Receiving Process ID"},
                                  {"Receiving Channel", "Inport ID", "int", "Inport ID"},
                                  {"Sending Processor", "Sending Processor Number", "int", "Sending Processor ID"},
                                  {"Sending Process", "Sending Process ID", "int", "Sending Process ID"},
                                  {"Sending Channel", "Outport ID", "int", "Outport ID"},
                                  kTag,
                                  {"Size of message", "Size of message in words", "int", "Size in words"}};
constexpr SddfField kGc[] = {{"GC generation", "GC up to this generation", "int", "generation"},
                             {"allocated", "heap allocated before GC", "long", "allocSize"},
                             {"collected", "heap data collected in GC", "long", "collectSize"},
                             {"live", "live heap data (heap consumption)", "long", "liveData"}};
constexpr SddfField kInterval[] = {
    {"Interval Seconds", "Floating point interval duration", "double", "Interval Seconds"},
    {"Interval", "Time interval", "int", "Time Interval", true}};
constexpr SddfField kData[] = {{"Data", "User data", "char", "User Defined Data", true}};
constexpr SddfField kCount[] = {{"Count", "Event count", "int", "Event Count"}};

constexpr SddfDescriptor kDescriptors[] = {
    {137, "Trace Record when a machine starts", "Start Machine", {}, false},
    {145, "Trace Record when a machine ends", "End Machine", {}, false},
    {153, "Trace Record for a new process", "New Process", kOfProcess, false},
    {241, "Trace Record when a process is labelled", "Label Process", kLabel, false},
    {161, "Trace Record when a process is killed", "Kill Process", kOfProcess, false},
    {169, "Trace Record for a new thread", "New Thread", kNewThread, false},
    {177, "Trace Record when a thread is killed", "Kill Thread", kOfThread, false},
    {185, "Trace Record when a thread is set to run", "Run Thread", kOfThread, false},
    {193, "Trace Record when a thread is suspended", "Suspend Thread", kOfThread, false},
    {201, "Trace Record when a thread is blocked", "Block Thread", kBlock, false},
    {209, "Trace Record when a thread is deblocked", "Deblock Thread", kOfThread, false},
    {217, "Trace Record when a Message is sent", "Send Message", kSend, false},
    {225, "Trace Record when a Message is received", "Receive Message", kReceive, false},
    {233, "Trace Record containing Garbage Collection statistics", "GC done", kGc, false},
    {257, "Trace Record to start receiving messages", "Start Communication", {}, false},
    {265, "Trace Record after receiving messages", "End Communication", {}, false},
    {19, "Dump cost event", "Dump Cost", kInterval, true},
    {65, "Generic trace event", "Generic Trace", kData, true},
    {66, "Generic count event", "Generic Count", kCount, true},
    {67, "Generic interval event", "Generic Interval", kInterval, true},
};

void append_descriptor_field(std::string& out, const SddfField& field) {
  out.append("\t// \"").append(field.label).append("\" \"").append(field.text).append("\"\n\t");
  out.append(field.type).append("\t\"").append(field.name).append(field.array ? "\"[];\n" : "\";\n");
}

}  // namespace

std::span<const SddfDescriptor> sddf_descriptors() { return kDescriptors; }

std::string sddf_head() {
  std::string out = "SDDFA\n\n";
  for (const SddfDescriptor& each : kDescriptors) {
    const std::string_view time = each.generic ? "Timestamp" : "timeStamp";
    const std::string floating = "Floating Point " + std::string(time);
    out.append("#").append(std::to_string(each.tag)).append(":\n// \"description\" \"").append(each.description);
    out.append("\"\n\"").append(each.name).append("\" {\n");
    append_descriptor_field(out, {"Time", time, "int", time, true});
    append_descriptor_field(out, {"Seconds", floating, "double", "Seconds"});
    append_descriptor_field(out, {"ID", "Event ID", "int", "Event Identifier"});
    append_descriptor_field(out, {"Node", each.generic ? "Processor number" : "Machine number", "int",
                                  each.generic ? "Processor Number" : "Machine Number"});
    for (const SddfField& field : each.fields) append_descriptor_field(out, field);
    out += "};;\n\n";
  }
  return out;
}

}  // namespace jtrace::trace::io

#include "trace/schema_text.h"

#include <array>
#include <string_view>

#include "trace/schema.h"

namespace jtrace::trace {
namespace {

enum class Dialect { kOriginal, kMended };

// As in the original: a choice in which each branch may occur once, with some names twice (an error by XML 1.0, 3.2.1),
// with `method`, which is not declared, and without monWait, monWaited, monContendedEnter, monContendedEntered.
constexpr std::string_view kOriginalRootModel =
    "(node | processCreate | agentCreate | agentDestroy |\n"
    "  (methodBody | methodCall | methodReturn | objDef | value | classDef | method | tag | code)* |\n"
    "  (traceStart | traceEnd | processSuspend | processResume | option | filter | classDef | classUnload | methodDef "
    "|\n"
    "   methodEntry | methodExit | methodCall | value | methodReturn | line | objAlloc | gcStart | objFree | objMove "
    "|\n"
    "   gcFinish | threadStart | threadEnd | runtimeInitDone | runtimeShutdown | throw | catch | methodCount)*)";

std::string mended_root_model() {
  std::string model = "(";
  for (const ElementInfo& element : kElements) {
    if (model.size() > 1) model += " |\n  ";
    model += element.name;
  }
  return model + ")*";
}

std::string_view content_model(Content content, Dialect dialect) {
  const bool mended = dialect == Dialect::kMended;
  switch (content) {
    case Content::kEmpty: return "EMPTY";
    case Content::kText: return "(#PCDATA)";
    case Content::kEntry: return mended ? "(InvocationContext?, value*)" : "(InvocationContext, value*)";
    case Content::kValues: return mended ? "(value*)" : "(VALUE*)";
    case Content::kBody: return "(methodCall | methodReturn | value | objDef | code)*";
  }
  return "EMPTY";
}

void append_attributes(std::string& dtd, const ElementInfo& element, Dialect dialect) {
  dtd.append("<!ATTLIST ").append(element.name).append("\n");
  for (const AttributeInfo& attribute : element.attributes) {
    if (attribute.presence == Presence::kExtension && dialect == Dialect::kOriginal) continue;
    dtd.append("  ").append(attribute.name).append(" CDATA ");
    dtd += attribute.presence == Presence::kRequired ? "#REQUIRED\n" : "#IMPLIED\n";
  }
  dtd += ">\n";
}

std::string dtd(std::string_view head, std::string_view root_model, Dialect dialect) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n";
  text.append(head).append("-->\n");
  text.append("<!ELEMENT ").append(kRootElement).append(" ").append(root_model).append(">\n");
  for (const ElementInfo& element : kElements) {
    text.append("\n<!-- ").append(element.description).append(" -->\n");
    text.append("<!ELEMENT ").append(element.name).append(" ").append(content_model(element.content, dialect));
    text += ">\n";
    append_attributes(text, element, dialect);
  }
  return text;
}

// -- the XML schema
// ----------------------------------------------------------------------------------------------------

struct SchemaType {
  AttributeType type;
  std::string_view name;
};
constexpr std::array kSchemaTypes = {
    SchemaType{AttributeType::kText, "xs:string"},
    SchemaType{AttributeType::kMethodName, "xs:string"},
    SchemaType{AttributeType::kUuid, "uuid"},
    SchemaType{AttributeType::kNumber, "xs:unsignedLong"},
    SchemaType{AttributeType::kBoolean, "truth"},
    SchemaType{AttributeType::kTime, "time"},
    SchemaType{AttributeType::kThreadId, "xs:unsignedLong"},
    SchemaType{AttributeType::kTransientThreadId, "xs:unsignedLong"},
    SchemaType{AttributeType::kClassId, "xs:unsignedLong"},
    SchemaType{AttributeType::kMethodId, "xs:unsignedLong"},
    SchemaType{AttributeType::kObjectId, "objectId"},
    SchemaType{AttributeType::kWordList, "wordList"},
};

std::string_view schema_type(AttributeType type) {
  for (const SchemaType& entry : kSchemaTypes)
    if (entry.type == type) return entry.name;
  return "xs:string";
}

constexpr std::string_view kSchemaHead = R"(<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  <xs:annotation><xs:documentation>
    The documents of jtrace: what jtrace.dtd says, and the types of the attributes' values.
  </xs:documentation></xs:annotation>

  <!-- Seconds since the epoch. -->
  <xs:simpleType name="time">
    <xs:restriction base="xs:string"><xs:pattern value="[0-9]+\.[0-9]{9}"/></xs:restriction>
  </xs:simpleType>
  <xs:simpleType name="uuid">
    <xs:restriction base="xs:string">
      <xs:pattern value="[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"/>
    </xs:restriction>
  </xs:simpleType>
  <xs:simpleType name="truth">
    <xs:restriction base="xs:string">
      <xs:enumeration value="true"/>
      <xs:enumeration value="false"/>
    </xs:restriction>
  </xs:simpleType>
  <!-- -1: Thread.sleep; -Unavailable-: an exception whose object is not known. -->
  <xs:simpleType name="objectId">
    <xs:restriction base="xs:string"><xs:pattern value="[0-9]+|-1|-Unavailable-"/></xs:restriction>
  </xs:simpleType>
  <!-- A number below 2^32, or 32-bit words from low to high. -->
  <xs:simpleType name="wordList">
    <xs:restriction base="xs:string"><xs:pattern value="[0-9]+(,[0-9]+)*"/></xs:restriction>
  </xs:simpleType>
)";

void append_reference(std::string& xsd, std::string_view name, std::string_view occurrence = {}) {
  xsd.append("        <xs:element ref=\"").append(name).append("\"").append(occurrence).append("/>\n");
}

constexpr std::string_view kOptional = " minOccurs=\"0\"";
constexpr std::string_view kRepeated = " minOccurs=\"0\" maxOccurs=\"unbounded\"";

void append_children(std::string& xsd, Content content) {
  if (content == Content::kEntry || content == Content::kValues) {
    xsd += "      <xs:sequence>\n";
    if (content == Content::kEntry) append_reference(xsd, Schema<InvocationContext>::name, kOptional);
    append_reference(xsd, Schema<Value>::name, kRepeated);
    xsd += "      </xs:sequence>\n";
  } else if (content == Content::kBody) {
    xsd.append("      <xs:choice").append(kRepeated).append(">\n");
    for (std::string_view name : {Schema<MethodCall>::name, Schema<MethodReturn>::name, Schema<Value>::name,
                                  Schema<ObjDef>::name, Schema<Code>::name})
      append_reference(xsd, name);
    xsd += "      </xs:choice>\n";
  }
}

void append_element(std::string& xsd, const ElementInfo& element) {
  const bool text = element.content == Content::kText;
  xsd.append("\n  <!-- ").append(element.description).append(" -->\n");
  xsd.append("  <xs:element name=\"").append(element.name).append("\">\n    <xs:complexType>\n");
  if (text) xsd += "      <xs:simpleContent><xs:extension base=\"xs:string\">\n";
  append_children(xsd, element.content);
  for (const AttributeInfo& attribute : element.attributes) {
    xsd.append("      <xs:attribute name=\"").append(attribute.name).append("\" type=\"");
    xsd.append(schema_type(attribute.type)).append("\"");
    xsd += attribute.presence == Presence::kRequired ? " use=\"required\"/>\n" : "/>\n";
  }
  if (text) xsd += "      </xs:extension></xs:simpleContent>\n";
  xsd += "    </xs:complexType>\n  </xs:element>\n";
}

}  // namespace

std::string original_dtd() {
  return dtd(
      "  The trace event format (\"XML for profiling\", trace.dtd), as declared in its version of 8 November 2004. "
      "The\n"
      "  declarations are kept as they are, faults included; the comments are jtrace's. Each element of strict\n"
      "  output is valid against this with itself as root. Whole documents cannot be (the model of TRACE): for them "
      "there\n"
      "  is jtrace.dtd.\n",
      kOriginalRootModel, Dialect::kOriginal);
}

std::string mended_dtd() {
  return dtd(
      "  The trace event format as jtrace writes it: the declarations of trace.dtd with content models that documents "
      "can\n"
      "  satisfy, and with jtrace's extensions. Each difference and its reason: docs/trace_format.md.\n",
      mended_root_model(), Dialect::kMended);
}

std::string xml_schema() {
  std::string xsd(kSchemaHead);
  xsd.append("\n  <xs:element name=\"").append(kRootElement).append("\">\n    <xs:complexType>\n");
  xsd.append("      <xs:choice").append(kRepeated).append(">\n");
  for (const ElementInfo& element : kElements) append_reference(xsd, element.name);
  xsd += "      </xs:choice>\n    </xs:complexType>\n  </xs:element>\n";
  for (const ElementInfo& element : kElements) append_element(xsd, element);
  return xsd + "</xs:schema>\n";
}

}  // namespace jtrace::trace

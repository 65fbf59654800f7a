import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.SequenceInputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.XMLConstants;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.XMLReader;
import org.xml.sax.ext.DefaultHandler2;

/**
 * What the JDK's own XML parser (Xerces) reports about traces.
 *
 * XmlOracle document DTD SCHEMA FILE...: each file as a document, against the DTD and the schema ("-" for none).
 * XmlOracle fragments DTD FILE...: each line of a file as a document of its own, with its element as the root.
 *
 * One line per fault (at most 20 a file), then "valid FILE" or "invalid FILE FAULTS". Exit status 0: all valid; 1: not;
 * 2: usage.
 */
public class XmlOracle {
  private static final int MAX_FAULTS = 20;
  private static final String WRAPPER = "jtrace-fragments";

  /** Collects what the parser reports, and supplies the DTD whatever the document asks for. */
  private static final class Judge extends DefaultHandler2 {
    final String dtd;
    final String file;
    int faults;
    int linesBefore; // of the file, before the text that is being parsed

    Judge(String dtd, String file) {
      this.dtd = dtd;
      this.file = file;
    }

    @Override
    public InputSource resolveEntity(String name, String publicId, String baseURI, String systemId) {
      InputSource source = new InputSource(new StringReader(dtd));
      source.setSystemId("file:///dtd");
      return source;
    }

    void fault(int line, String text) {
      if (++faults <= MAX_FAULTS) System.out.println(file + ":" + line + ": " + text);
    }

    @Override
    public void error(SAXParseException exception) {
      fault(linesBefore + exception.getLineNumber(), exception.getMessage());
    }

    @Override
    public void fatalError(SAXParseException exception) throws SAXException {
      error(exception);
      throw exception;
    }
  }

  private static XMLReader reader(Judge judge, File schema) throws Exception {
    SAXParserFactory factory = SAXParserFactory.newInstance();
    factory.setNamespaceAware(true);
    factory.setValidating(true);
    if (schema != null) {
      factory.setSchema(SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI).newSchema(schema));
    }
    XMLReader reader = factory.newSAXParser().getXMLReader();
    reader.setEntityResolver(judge);
    reader.setErrorHandler(judge);
    return reader;
  }

  private static void parse(XMLReader reader, InputSource source) throws IOException {
    try {
      reader.parse(source);
    } catch (SAXException reported) {
      // The judge has the fault already.
    }
  }

  private static void judgeDocument(Judge judge, File schema) throws Exception {
    XMLReader reader = reader(judge, schema);
    try (InputStream in = withDoctype(new BufferedInputStream(new FileInputStream(judge.file)))) {
      parse(reader, new InputSource(in));
    }
  }

  private static String doctype(String root) {
    return "<!DOCTYPE " + root + " SYSTEM \"dtd\">";
  }

  /** Adds a DOCTYPE to a document without one, after its XML declaration and on the same line. */
  private static InputStream withDoctype(BufferedInputStream in) throws IOException {
    byte[] start = new byte[1024];
    in.mark(start.length);
    int size = Math.max(in.read(start), 0);
    in.reset();
    String text = new String(start, 0, size, StandardCharsets.ISO_8859_1);
    if (text.contains("<!DOCTYPE")) return in;
    int head = text.startsWith("<?xml") ? text.indexOf("?>") + 2 : 0;
    in.skip(head);
    return new SequenceInputStream(bytes(text.substring(0, head) + doctype("TRACE")), in);
  }

  private static String rootOf(String line) {
    Matcher name = Pattern.compile("<([^\\s/>]+)").matcher(line);
    return name.lookingAt() ? name.group(1) : "none";
  }

  /**
   * All attributes are CDATA, so two lines of the same shape (equal except for values and text) are equally valid.
   * Therefore one line of each shape is parsed as a document, then all lines at once inside an element that may contain
   * anything.
   */
  private static void judgeFragments(Judge judge) throws Exception {
    Pattern values = Pattern.compile("\"[^\"]*\"|>[^<]+<");
    Set<String> shapes = new HashSet<>();
    XMLReader reader = reader(judge, null);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(new FileInputStream(judge.file), StandardCharsets.UTF_8))) {
      int number = 0;
      for (String line; (line = lines.readLine()) != null; ++number) {
        if (!shapes.add(values.matcher(line).replaceAll("\"\""))) continue;
        judge.linesBefore = number;
        parse(reader, new InputSource(new StringReader(doctype(rootOf(line)) + line)));
      }
    }
    Judge all = new Judge(judge.dtd + "\n<!ELEMENT " + WRAPPER + " ANY>\n", judge.file);
    all.linesBefore = -1; // the wrapper has a line of its own
    all.faults = judge.faults;
    try (InputStream in =
        new SequenceInputStream(
            Collections.enumeration(
                Arrays.asList(
                    bytes(doctype(WRAPPER) + "<" + WRAPPER + ">\n"), new FileInputStream(judge.file), bytes("</" + WRAPPER + ">"))))) {
      parse(reader(all, null), new InputSource(in));
    }
    judge.faults = all.faults;
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  public static void main(String[] args) throws Exception {
    boolean documents = args.length > 3 && args[0].equals("document");
    if (!documents && !(args.length > 2 && args[0].equals("fragments"))) {
      System.err.println("usage: XmlOracle document DTD SCHEMA|- FILE... | fragments DTD FILE...");
      System.exit(2);
    }
    String dtd = new String(Files.readAllBytes(new File(args[1]).toPath()), StandardCharsets.UTF_8);
    boolean allValid = true;
    for (int i = documents ? 3 : 2; i < args.length; ++i) {
      Judge judge = new Judge(dtd, args[i]);
      if (documents) judgeDocument(judge, args[2].equals("-") ? null : new File(args[2]));
      else judgeFragments(judge);
      System.out.println(judge.faults == 0 ? "valid " + args[i] : "invalid " + args[i] + " " + judge.faults);
      allValid &= judge.faults == 0;
    }
    System.exit(allValid ? 0 : 1);
  }
}

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * The JDK's own jstat and jcmd, run in this JVM as often as asked: starting a JVM for each line would take minutes.
 *
 * <p>Input: "jstat WORD..." as on its command line, and "counters PID" for jcmd PID PerfCounter.print; a word "@NAME"
 * is the file:// URL of NAME in the working directory. Answer: their output on one line, with "\n" for a newline and
 * "\\" for a backslash. Needs --add-modules jdk.jcmd --add-opens jdk.jcmd/sun.tools.jstat=ALL-UNNAMED and
 * jdk.jcmd/sun.tools.jcmd=ALL-UNNAMED.
 */
public final class PerfOracle {
    // As Jstat.main, without its System.exit.
    static void jstat(String[] words) throws Exception {
        Class<?> tool = Class.forName("sun.tools.jstat.Jstat");
        Field arguments = tool.getDeclaredField("arguments");
        arguments.setAccessible(true);
        arguments.set(null, Class.forName("sun.tools.jstat.Arguments").getConstructor(String[].class)
            .newInstance((Object) words));
        Method log = tool.getDeclaredMethod("logSamples");
        log.setAccessible(true);
        log.invoke(null);
    }

    // As JCmd.main for PerfCounter.print, without its System.exit.
    static void counters(String pid) throws Exception {
        Method list = Class.forName("sun.tools.jcmd.JCmd").getDeclaredMethod("listCounters", String.class);
        list.setAccessible(true);
        list.invoke(null, pid);
    }

    static String answer(String line) {
        String[] all = line.split(" +");
        String[] words = new String[all.length - 1];
        for (int i = 1; i < all.length; i++) {
            words[i - 1] = all[i].startsWith("@") ? new File(all[i].substring(1)).toURI().toString().replace("file:/", "file:///")
                                                  : all[i];
        }
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(bytes, true, "UTF-8"));
            if (all[0].equals("jstat")) {
                jstat(words);
            } else {
                counters(words[0]);
            }
            return "OK " + bytes.toString("UTF-8").replace("\\", "\\\\").replace("\n", "\\n");
        } catch (InvocationTargetException e) {
            return "ERR " + e.getCause();
        } catch (Exception e) {
            return "ERR " + e;
        } finally {
            System.setOut(before);
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            out.println(answer(line));
        }
    }
}

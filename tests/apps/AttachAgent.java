/** A Java agent: stores its argument in a system property, or throws if the argument asks for it. */
public final class AttachAgent {
    public static void agentmain(String argument) {
        if ("throw".equals(argument)) {
            throw new IllegalStateException("as asked");
        }
        System.setProperty("attach.agent", argument == null ? "none" : argument);
    }
}

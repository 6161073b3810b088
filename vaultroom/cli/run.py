"""`vaultroom run [--policy F] [--agent NAME] -- CMD…`: run an agent under the policy.

Joins the running host or becomes it, opens a session, starts the agent in its own foreground process
group, asks on the terminal while no room is open, and ends with the agent's own exit code
(specification sections 4.1 and 4.2, design sections 1 and 7).
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import time
from collections.abc import Sequence

from vaultroom import clock, platform
from vaultroom.cli.choose_policy import choose_policy
from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.host_link import HostLink
from vaultroom.cli.joining import JOIN_SECONDS, RETRY_SECONDS, Joined, join_or_host
from vaultroom.cli.output import complain, say
from vaultroom.cli.prompting import TerminalPrompts
from vaultroom.cli.starting import session_start, usable_policy
from vaultroom.control.protocol import Control, SessionGrant, SessionStart
from vaultroom.errors import HostUnavailable, PolicyError, VaultroomError
from vaultroom.paths import Home, find_home
from vaultroom.policy.model import Policy
from vaultroom.supervisor.assembly import audit_path
from vaultroom.supervisor.child import Child, Leaving, keep_signals
from vaultroom.supervisor.environment import child_environment
from vaultroom.supervisor.host import Host
from vaultroom.visible import visible

_WAIT_SECONDS = 0.2
_ANSWER_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "vaultroom run [--policy FILE] [--agent NAME] -- COMMAND [ARG ...]"
    parser.epilog = "Without a COMMAND the policy's agent.command runs."
    parser.add_argument("--policy", metavar="FILE", help="the policy to use (as --config)")
    parser.add_argument("--agent", metavar="NAME", help="the agent's name in the log")
    parser.add_argument("argv", nargs="*", metavar="COMMAND", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    wanted = args.policy or args.config
    if os.environ.get("VAULTROOM_SESSION") and os.environ.get("VAULTROOM_SOCK"):
        return _join_own_session(args.argv, wanted)
    home = find_home()
    chosen = choose_policy(wanted, home=home, cwd=os.getcwd())
    policy = usable_policy(chosen, os.environ)
    argv = tuple(args.argv) or policy.agent.command
    if not argv:
        raise PolicyError(
            "nothing to run: no command was given and the policy has no agent.command",
            advice="Write it after two dashes: vaultroom run -- claude",
        )
    program = shutil.which(argv[0])
    if program is None:
        say(f"vaultroom: {visible(argv[0])}: command not found")
        return Exit.NOT_FOUND
    start = session_start(args.agent or policy.agent.name or os.path.basename(argv[0]), argv, chosen)
    return _guarded(home, policy, start, program)


def _join_own_session(argv: Sequence[str], policy: str | None) -> int:
    """Inside a session its shims and socket are in the environment already: just become the command."""
    if policy is not None:
        raise PolicyError("a session is open here already; a command inside it cannot bring a policy")
    if not argv:
        raise PolicyError("nothing to run: write the command after two dashes")
    shims = find_home().shims / os.environ["VAULTROOM_SESSION"]
    if not (shims.is_dir() and _answers(os.environ["VAULTROOM_SOCK"])):
        say("vaultroom: VAULTROOM_SESSION names a session that no host answers for; nothing was run")
        say("  Outside of that session: unset VAULTROOM_SESSION VAULTROOM_SOCK, then run it again.")
        return Exit.CHECK_FAILED
    os.environ["PATH"] = os.pathsep.join([str(shims), os.environ.get("PATH", os.defpath)])
    program = shutil.which(argv[0])
    if program is None:
        say(f"vaultroom: {visible(argv[0])}: command not found")
        return Exit.NOT_FOUND
    return os.execv(program, list(argv))


def _answers(path: str) -> bool:
    """Whether somebody listens on the session's socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_ANSWER_SECONDS)
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def _guarded(home: Home, policy: Policy, start: SessionStart, program: str) -> int:
    try:
        joined, grant = _open(home, policy, start)
    except PolicyError:
        raise
    except Exception as error:  # whatever it is: without a session the agent does not run
        return _start_failed(error)
    try:
        for warning in grant.warnings:
            say(f"vaultroom: {visible(warning)}")
        code = _run_child(home, joined, grant, start, program)
        if joined.host is not None:
            _stay_for_others(joined.control, joined.host)
        return code
    finally:
        _let_go(joined)


def _open(home: Home, policy: Policy, start: SessionStart) -> tuple[Joined, SessionGrant]:
    """Join or become the host and open the session; a host that closes meanwhile is followed by the next."""
    deadline = clock.monotonic() + JOIN_SECONDS
    while True:
        joined = join_or_host(home, audit_path(policy, home))
        try:
            return joined, joined.control.open_session(start)
        except HostUnavailable:
            _let_go(joined)
            if clock.monotonic() > deadline:
                raise
        except BaseException:
            _let_go(joined)
            raise
        time.sleep(RETRY_SECONDS)


def _let_go(joined: Joined) -> None:
    joined.control.close()
    if joined.host is not None:
        joined.host.close()


def _run_child(home: Home, joined: Joined, grant: SessionGrant, start: SessionStart, program: str) -> int:
    environ = child_environment(os.environ, grant.environ, grant.withheld)
    host = joined.host

    def may_suspend() -> bool:
        return host is None or not host.supervisor.has_sessions_besides(grant.id)

    prompts = TerminalPrompts(grant.id)
    platform.take_brand(grant.brand)
    early = keep_signals()
    try:
        child = Child.spawn(program, start.agent_command, environ, may_suspend=may_suspend)
    except OSError as error:
        say(f"vaultroom: {visible(start.agent_command[0])}: {error.strerror or error}")
        joined.control.close_session(grant.id, Exit.NOT_FOUND)
        return Exit.NOT_FOUND if isinstance(error, FileNotFoundError) else Exit.DENIED
    try:
        joined.control.child_started(grant.id, child.pid)
    except VaultroomError as error:
        complain(error)  # the child's acts are refused until a host knows it
    link = HostLink(home, joined.control, grant.id, prompts.receive)
    if grant.prompts:
        prompts.start(child.pid, link.answer)
    link.start(prompts.surface)
    try:
        code = child.wait(prompts.give_way, early)
    finally:
        prompts.stop()
    _close(link, grant.id, code)
    return code


def _close(link: HostLink, session_id: str, code: int) -> None:
    try:
        link.control.close_session(session_id, code)
    except HostUnavailable:
        say("vaultroom: the host is gone; the log of this session stays unsealed until the next host opens")
    except VaultroomError as error:
        complain(error)
    finally:
        link.close()


def _stay_for_others(control: Control, host: Host) -> None:
    told = False
    while not Leaving.asked and not host.call(host.supervisor.leave()):
        if not told and (sessions := control.state().sessions):
            names = ", ".join(session.agent for session in sessions)
            say(f"vaultroom: still hosting {names}; this ends when they do")
            told = True
        time.sleep(_WAIT_SECONDS)


def _start_failed(error: Exception) -> int:
    if isinstance(error, VaultroomError):
        complain(error)
    else:
        say(f"vaultroom: {type(error).__name__}: {visible(str(error))}")
    say("vaultroom: the session could not be started; the agent was not run")
    return Exit.CHECK_FAILED

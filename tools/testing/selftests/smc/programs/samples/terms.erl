%% SPDX-License-Identifier: GPL-2.0
%% A server that returns the terms that it gets, and clients that compare them.
-module(terms).
-export([server/1, client/1]).

options() -> [binary, {packet, 4}, {active, false}, {reuseaddr, true}, {ip, {127, 0, 0, 1}}].

server([Port]) ->
	{ok, Listener} = gen_tcp:listen(list_to_integer(Port), [{backlog, 50} | options()]),
	accept(Listener).

accept(Listener) ->
	{ok, Socket} = gen_tcp:accept(Listener),
	Pid = spawn(fun() -> receive go -> return(Socket) end end),
	ok = gen_tcp:controlling_process(Socket, Pid),
	Pid ! go,
	accept(Listener).

return(Socket) ->
	ok = inet:setopts(Socket, [{active, once}]),
	receive
		{tcp, Socket, Data} ->
			ok = gen_tcp:send(Socket, term_to_binary(binary_to_term(Data))),
			return(Socket);
		{tcp_closed, Socket} -> done
	end.

client([Port]) ->
	Self = self(),
	Pids = [spawn_link(fun() -> Self ! {self(), ask(list_to_integer(Port), N)} end)
		|| N <- lists:seq(1, 20)],
	[receive {Pid, Result} -> io:format("~p~n", [Result]) end || Pid <- Pids],
	halt(0).

ask(Port, N) ->
	{ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {packet, 4}, {active, false}]),
	Sizes = [begin
		Term = {term, N, lists:duplicate(Size, N)},
		ok = gen_tcp:send(Socket, term_to_binary(Term)),
		{ok, Data} = gen_tcp:recv(Socket, 0),
		Term = binary_to_term(Data),
		byte_size(Data)
	end || Size <- [0, 1, 100, 10000, 100000]],
	ok = gen_tcp:close(Socket),
	{N, Sizes}.
